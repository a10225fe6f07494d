"""Billing groups: the customers that are invoiced, with their invoice settings."""
