"""Branding of the portal: the reseller's name, colour and logo."""
