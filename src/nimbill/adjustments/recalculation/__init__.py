"""Recalculation entries: one-off charges and credits, billed once somebody applies them."""
