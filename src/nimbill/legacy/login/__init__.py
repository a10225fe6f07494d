"""The token endpoint of version 3, and the login of agents."""
