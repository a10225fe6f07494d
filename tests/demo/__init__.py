"""Tests of the demo: its story, and the whole of it in a real process."""
