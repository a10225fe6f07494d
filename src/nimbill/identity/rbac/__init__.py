"""Permissions, roles, and the roles and filters mapped to subusers."""
