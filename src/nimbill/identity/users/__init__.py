"""Root users, subusers and their API clients."""
