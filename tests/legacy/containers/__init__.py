"""Tests of the room of containers."""
