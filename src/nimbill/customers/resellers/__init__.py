"""Reseller accounts: a customer's login to the portal, and what it is shown."""
