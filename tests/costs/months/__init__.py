"""Tests of closing, reopening and parking months."""
