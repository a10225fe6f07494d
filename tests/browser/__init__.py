"""Tests in a real browser, and the screenshots for the documentation."""
