"""Templates of version 3: how stacks are described, version by version."""
