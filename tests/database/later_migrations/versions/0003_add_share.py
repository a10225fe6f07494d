"""Add a column to another table, in a revision of its own: see CONTRIBUTING.md."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("ALTER TABLE cost_sums ADD COLUMN later_share numeric")


def downgrade() -> None:
    op.execute("ALTER TABLE cost_sums DROP COLUMN later_share")
