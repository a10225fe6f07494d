"""Tests of the room of recalculation entries."""
