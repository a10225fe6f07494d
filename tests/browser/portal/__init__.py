"""Tests of the customers' console in Chromium."""
