"""Deployments: the stacks that began with a template of the same label."""
