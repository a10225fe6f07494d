"""Tests of the room of legacy."""
