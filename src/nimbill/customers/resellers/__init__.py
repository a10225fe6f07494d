"""Reseller accounts: a customer's login to the portal and the pages it displays."""
