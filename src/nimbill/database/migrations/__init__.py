"""Database changes, in order; applied by `init` and `serve` before anything else."""
