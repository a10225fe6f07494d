"""Corrections of issued invoices: replacements, and decisions about late costs."""
