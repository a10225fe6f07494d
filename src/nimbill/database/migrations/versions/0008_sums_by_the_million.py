"""Sums come by the million: the organisation of each is not looked up again.

Looking it up took as long as storing the row. Row security lets in no other than the transaction's
own, and the month they belong to refers to that one.
"""

from alembic import op

revision = "0008"
down_revision = "0007"

SUMS = ("cost_sums", "cost_tag_sums")


def upgrade() -> None:
    for table in SUMS:
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_organisation_id_fkey")


def downgrade() -> None:
    for table in SUMS:
        op.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT {table}_organisation_id_fkey "
            "FOREIGN KEY (organisation_id) REFERENCES organisations"
        )
