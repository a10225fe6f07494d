"""Authentication and authorisation: tokens, keys, passwords, permissions, the gate, uploads."""
