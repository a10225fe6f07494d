"""Recalculates a stored invoice with corrected costs or corrected terms."""
