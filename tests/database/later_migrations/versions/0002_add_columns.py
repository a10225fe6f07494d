"""Add columns that may be empty, which needs each table for an instant only."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("ALTER TABLE billing_groups ADD COLUMN later_note text")
    op.execute("ALTER TABLE cost_sums ADD COLUMN later_share numeric")


def downgrade() -> None:
    op.execute("ALTER TABLE cost_sums DROP COLUMN later_share")
    op.execute("ALTER TABLE billing_groups DROP COLUMN later_note")
