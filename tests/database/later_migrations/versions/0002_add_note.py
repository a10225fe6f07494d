"""Add a column that may be empty, which needs its table for an instant only."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("ALTER TABLE billing_groups ADD COLUMN later_note text")


def downgrade() -> None:
    op.execute("ALTER TABLE billing_groups DROP COLUMN later_note")
