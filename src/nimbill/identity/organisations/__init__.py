"""Organisations: a root user and everything that belongs to it."""
