"""Alternatives to Nimbill that the benchmarks compare with."""
