"""Alembic migrations of the product: revisions in `versions`, SQL in `tables` and `functions`."""
