"""Baseline: every table and function of version 3."""

from pathlib import Path

from alembic import op

from nimbill.database.migrations.row_security import enable_row_security
from nimbill.database.migrations.sql_files import execute_function, execute_statements
from nimbill.database.tenant_scope import APP_ROLE

revision = "0001"
down_revision = None

FOLDER = Path(__file__).parents[1]
TABLES = (
    "legacy_stacks",
    "legacy_template_versions",
    "legacy_layers",
    "legacy_instances",
    "legacy_agents",
    "legacy_containers",
    "legacy_roles",
    "legacy_user_roles",
)
FUNCTIONS = ("find_agent", "load_agent_caller")


def upgrade() -> None:
    execute_statements(FOLDER / "tables" / "legacy.sql")
    for name in FUNCTIONS:
        execute_function(FOLDER / "functions" / f"{name}.sql")
    for table in TABLES:
        enable_row_security(table)
    op.execute(f"GRANT SELECT ON alembic_version_legacy TO {APP_ROLE}")


def downgrade() -> None:
    op.execute(f"DROP TABLE {', '.join(TABLES)}")
    op.execute(f"DROP FUNCTION {', '.join(FUNCTIONS)}")
    # Version 3 also has rows in two tables of the product.
    op.execute("DELETE FROM jobs WHERE kind = 'reconcile_stack'")
    op.execute("DELETE FROM tenant_lookups WHERE kind = 'stack'")
