"""Tests of the room of stacks."""
