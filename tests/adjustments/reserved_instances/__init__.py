"""Tests of the room of reserved instances."""
