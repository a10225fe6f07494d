"""Tests of recalculation entries."""
