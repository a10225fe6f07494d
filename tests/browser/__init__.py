"""Tests of the pages in a real browser, and the pictures of them."""
