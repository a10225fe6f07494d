"""Store the vendor's charges of an invoice; earlier revisions have them in the document."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("ALTER TABLE invoice_revisions ADD COLUMN vendor_charges jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE invoice_revisions DROP COLUMN vendor_charges")
