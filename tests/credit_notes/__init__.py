"""Tests of credit notes."""
