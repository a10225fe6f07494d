"""Mutation testing: small faults are put into the source, and a test must fail for each of them."""
