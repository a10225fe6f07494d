"""Faults for proofs and mutants: texts of the product's sources are replaced while it starts."""
