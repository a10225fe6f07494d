"""Adjustments between import and invoice: recalculation entries and reserved instances."""
