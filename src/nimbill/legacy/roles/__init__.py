"""Roles of version 3: their scopes limit what users may do."""
