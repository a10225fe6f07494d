"""Tests of the billing groups room, a file for each operation."""
