"""Tests of staff views."""
