"""Row-level security: every table with an organisation_id shows the current tenant's rows only."""

from alembic import op

from nimbill.database.tenant_scope import APP_ROLE

ALL_RIGHTS = "SELECT, INSERT, UPDATE, DELETE"


def enable_row_security(table: str, rights: str = ALL_RIGHTS) -> None:
    """Filter by the transaction's organisation, for the table's owner too; grant `rights`."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY tenant_isolation ON {table} USING "
        "(organisation_id = current_setting('nimbill.organisation', true))"
    )
    op.execute(f"GRANT {rights} ON {table} TO {APP_ROLE}")


def allow_owner_across_tenants(table: str) -> None:
    """Let SECURITY DEFINER functions, which run as the owner, read rows of every organisation."""
    op.execute(f"CREATE POLICY owner_reads_all_tenants ON {table} TO CURRENT_USER USING (true)")
