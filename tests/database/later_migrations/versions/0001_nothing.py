"""Stands for the baseline, which the tests create with the product's own migrations."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Do nothing."""


def downgrade() -> None:
    """Do nothing."""
