"""Tests of the rules of the code base: sizes, names, packages, pages, targets."""
