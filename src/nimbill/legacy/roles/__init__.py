"""Roles of version 3: what their scopes let users do with stacks, templates and containers."""
