"""Tests of the customer accounts room, a file for each operation."""
