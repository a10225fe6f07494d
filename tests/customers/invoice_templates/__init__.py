"""Tests of the invoice templates room."""
