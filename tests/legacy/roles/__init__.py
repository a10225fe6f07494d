"""Tests of the room of roles."""
