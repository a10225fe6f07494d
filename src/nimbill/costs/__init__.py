"""Vendor costs: reading deliveries, storing lines in the lake, and the sums computed from them."""
