"""Tests of the portal's account groups and usage by group."""
