"""Tests of budgets and their alerts."""
