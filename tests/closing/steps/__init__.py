"""Tests of the steps of a month and of closing it."""
