"""Tests of the commands: in this process where that shows the same, in real processes otherwise."""
