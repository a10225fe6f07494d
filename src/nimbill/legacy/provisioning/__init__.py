"""How stacks become machines: the work that moves them, and who launches what."""
