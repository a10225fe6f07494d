"""Tests of the room of templates."""
