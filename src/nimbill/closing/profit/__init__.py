"""Vendor cost, sales and profit of each project per month."""
