"""Version 3 of the interface, deprecated: delete this folder and deployments to retire it."""
