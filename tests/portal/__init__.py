"""Tests of what a reseller's customer sees."""
