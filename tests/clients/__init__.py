"""Tests with real HTTP clients and with requests of existing scripts."""
