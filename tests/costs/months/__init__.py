"""Tests of the room of months."""
