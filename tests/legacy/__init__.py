"""Tests of legacy."""
