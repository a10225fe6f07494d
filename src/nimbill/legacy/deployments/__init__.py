"""Deployments: the stacks whose first template has the same label."""
