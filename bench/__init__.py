"""Benchmarks: the speed of Nimbill relative to alternatives, measured in the same run."""
