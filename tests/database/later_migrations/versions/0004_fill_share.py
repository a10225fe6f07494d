"""Create an index concurrently and fill a column in parts, in no common transaction.

If it is interrupted, it is repeated: each statement works in a database where it has already run.
"""

from alembic import op
from sqlalchemy import text

revision = "0004"
down_revision = "0003"

ROWS_AT_ONCE = 50_000
ORGANISATIONS = text(
    "SELECT organisation_id FROM tenant_lookups UNION SELECT organisation_id FROM jobs"
)
# The owner sees the rows of one organisation only.
SET_ORGANISATION = text("SELECT set_config('nimbill.organisation', :organisation_id, false)")
FILL = text(
    "UPDATE cost_sums SET later_share = cost / 2 WHERE ctid = ANY (ARRAY("
    f"SELECT ctid FROM cost_sums WHERE later_share IS NULL LIMIT {ROWS_AT_ONCE}))"
)


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS cost_sums_later_idx")
        op.execute(
            "CREATE INDEX CONCURRENTLY cost_sums_later_idx ON cost_sums (organisation_id, day)"
        )
        db = op.get_bind()
        for (organisation_id,) in db.execute(ORGANISATIONS).all():
            db.execute(SET_ORGANISATION, {"organisation_id": organisation_id})
            while db.execute(FILL).rowcount:
                pass
        db.execute(SET_ORGANISATION, {"organisation_id": ""})


def downgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS cost_sums_later_idx")
