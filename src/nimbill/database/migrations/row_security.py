"""The second wall: row-level security on every table that carries an organisation."""

from alembic import op

from nimbill.database.tenant_scope import APP_ROLE

ALL = "SELECT, INSERT, UPDATE, DELETE"


def guard(table: str, grant: str = ALL) -> None:
    """Only rows of the organisation set on the transaction exist, even for the table's owner."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY own_organisation ON {table} USING "
        "(organisation_id = current_setting('nimbill.organisation', true))"
    )
    op.execute(f"GRANT {grant} ON {table} TO {APP_ROLE}")


def lift_for_owner(table: str) -> None:
    """While rows of every organisation are rewritten; `lower_for_owner` puts the wall back."""
    op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")


def lower_for_owner(table: str) -> None:
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def open_to_owner(table: str) -> None:
    """The owner's own functions may look across organisations here, and nobody else."""
    op.execute(f"CREATE POLICY owner_looks_across ON {table} TO CURRENT_USER USING (true)")
