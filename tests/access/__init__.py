"""Access: tokens, keys and passwords, each by itself."""
