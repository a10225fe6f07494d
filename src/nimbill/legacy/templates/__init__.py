"""Templates of version 3: versioned descriptions of stacks."""
