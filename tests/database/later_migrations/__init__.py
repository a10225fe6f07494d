"""Migrations of a later version, as they are written for a database that is in use."""
