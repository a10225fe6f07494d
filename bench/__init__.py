"""Benchmarks: ratios against what a user would pick instead, in one run."""
