"""The API for agents, which run on launched instances."""
