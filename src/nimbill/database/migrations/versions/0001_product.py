"""Baseline: every table and function of the product."""

from collections.abc import Iterable
from pathlib import Path

from alembic import op

from nimbill.database.migrations.row_security import (
    ALL_RIGHTS,
    allow_owner_across_tenants,
    enable_row_security,
)
from nimbill.database.migrations.sql_files import execute_function, execute_statements
from nimbill.database.tenant_scope import APP_ROLE

revision = "0001"
down_revision = None

FOLDER = Path(__file__).parents[1]
NO_DELETE = "SELECT, INSERT, UPDATE"
NO_UPDATE = "SELECT, INSERT, DELETE"
APPEND_ONLY = "SELECT, INSERT"

# In this order, because of foreign keys.
TABLE_FILES = (
    "identity",
    "audit_and_jobs",
    "customers",
    "costs",
    "commitments",
    "adjustments",
    "invoicing",
    "portal",
    "budgets",
    "webhooks",
    "approvals",
)
FUNCTIONS = (
    "append_audit_entry",
    "count_service_records",
    "find_api_client",
    "find_organisation_id",
    "has_other_organisations",
    "load_caller",
    "organisations_with_due_jobs",
    "record_former_group",
    "refuse_change",
    "refuse_change_of_sent",
)

# Table of one tenant's rows: what the application may do with them.
TENANT_TABLES = {
    "organisations": NO_DELETE,
    "organisation_keys": NO_DELETE,
    "tenant_lookups": NO_UPDATE,
    "users": ALL_RIGHTS,
    "api_clients": ALL_RIGHTS,
    "roles": ALL_RIGHTS,
    "role_mappings": ALL_RIGHTS,
    "role_filters": ALL_RIGHTS,
    "token_families": ALL_RIGHTS,
    "refresh_tokens": ALL_RIGHTS,
    "password_links": ALL_RIGHTS,
    "second_factors": ALL_RIGHTS,
    "second_factor_challenges": ALL_RIGHTS,
    "login_attempts": ALL_RIGHTS,
    "known_login_sources": ALL_RIGHTS,
    "audit_log": APPEND_ONLY,
    "audit_heads": NO_DELETE,
    "idempotency_keys": NO_UPDATE,
    "jobs": ALL_RIGHTS,
    "projects": ALL_RIGHTS,
    "invoice_templates": ALL_RIGHTS,
    "organisation_settings": ALL_RIGHTS,
    "portal_logos": ALL_RIGHTS,
    "billing_groups": ALL_RIGHTS,
    "invoice_settings": ALL_RIGHTS,
    "free_format_items": ALL_RIGHTS,
    "cloud_accounts": ALL_RIGHTS,
    "contacts": ALL_RIGHTS,
    "former_account_groups": APPEND_ONLY,
    "resellers": ALL_RIGHTS,
    "cost_imports": ALL_RIGHTS,
    "lake_files": ALL_RIGHTS,
    "cost_months": ALL_RIGHTS,
    "cost_sums": ALL_RIGHTS,
    "cost_tag_sums": ALL_RIGHTS,
    "cost_tagged_sums": ALL_RIGHTS,
    "marketplace_products": ALL_RIGHTS,
    "commitment_usage": ALL_RIGHTS,
    "on_demand_usage": ALL_RIGHTS,
    "month_states": ALL_RIGHTS,
    "parked_months": ALL_RIGHTS,
    "recalculation_entries": ALL_RIGHTS,
    "reserved_instances": ALL_RIGHTS,
    "reservation_fees": ALL_RIGHTS,
    "reservation_moves": ALL_RIGHTS,
    "monthly_invoice_settings": ALL_RIGHTS,
    "invoice_counters": NO_DELETE,
    "invoices": NO_DELETE,
    "invoice_revisions": APPEND_ONLY,
    "credit_note_counters": NO_DELETE,
    "credit_notes": APPEND_ONLY,
    "payments": NO_DELETE,
    "replaced_invoices": APPEND_ONLY,
    "drift_decisions": APPEND_ONLY,
    "invoice_pdfs": APPEND_ONLY,
    "invoice_deliveries": NO_DELETE,
    "invoice_runs": NO_DELETE,
    "invoice_run_keys": APPEND_ONLY,
    "exports": ALL_RIGHTS,
    "tie_out_results": NO_DELETE,
    "account_groups": ALL_RIGHTS,
    "account_group_members": ALL_RIGHTS,
    "budget_settings": ALL_RIGHTS,
    "budget_alerts": ALL_RIGHTS,
    "saved_filters": ALL_RIGHTS,
    "portal_views": ALL_RIGHTS,
    "webhook_endpoints": ALL_RIGHTS,
    "webhook_events": NO_UPDATE,
    "webhook_deliveries": ALL_RIGHTS,
    "approval_requests": NO_DELETE,
    "invoice_approvals": APPEND_ONLY,
}
# Read across tenants by find_organisation_id, has_other_organisations,
# organisations_with_due_jobs and count_service_records.
CROSS_TENANT_TABLES = ("tenant_lookups", "jobs", "cost_imports", "invoice_runs")
# Rows that not even their owner may change.
IMMUTABLE_TABLES = (
    *("invoice_revisions", "credit_notes", "invoice_pdfs", "invoice_run_keys"),
    *("replaced_invoices", "drift_decisions", "invoice_approvals"),
)
# Columns of a sent invoice that stay when it is published at another time, or cancelled once. An
# invoice in its place takes over the row: see refuse_change_of_sent.
FIXED_WHEN_SENT = (
    *("organisation_id", "month", "company_id", "vendor", "number", "revision"),
    *("create_time", "update_time", "sent_time", "sent_by"),
)
# Columns of a payment that stay when it is reversed, which happens once.
FIXED_IN_PAYMENTS = (
    *("organisation_id", "payment_id", "month", "company_id", "vendor", "currency", "amount"),
    *("paid_on", "note", "create_time", "created_by"),
)


def upgrade() -> None:
    execute_function(FOLDER / "functions" / "text_hash.sql")  # used by generated columns
    for name in TABLE_FILES:
        execute_statements(FOLDER / "tables" / f"{name}.sql")
    for name in FUNCTIONS:
        execute_function(FOLDER / "functions" / f"{name}.sql")
    for table, rights in TENANT_TABLES.items():
        enable_row_security(table, rights)
    for table in CROSS_TENANT_TABLES:
        allow_owner_across_tenants(table)
    for table in IMMUTABLE_TABLES:
        op.execute(
            f"CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    op.execute(
        "CREATE TRIGGER refuse_deletion_of_sent BEFORE DELETE ON invoices "
        "FOR EACH ROW WHEN (OLD.sent_time IS NOT NULL) EXECUTE FUNCTION refuse_change()"
    )
    op.execute(
        "CREATE TRIGGER refuse_change_of_sent BEFORE UPDATE ON invoices FOR EACH ROW "
        "WHEN (OLD.sent_time IS NOT NULL AND (OLD.cancelled_time IS NOT NULL "
        "OR (NEW.cancelled_time IS NULL "
        "AND NEW.publish_time IS NOT DISTINCT FROM OLD.publish_time) "
        f"OR {_differ(FIXED_WHEN_SENT)})) "
        "EXECUTE FUNCTION refuse_change_of_sent()"
    )
    op.execute(
        "CREATE TRIGGER refuse_truncation BEFORE TRUNCATE ON invoices "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    _protect_payments()
    op.execute(
        "CREATE TRIGGER record_former_group AFTER UPDATE OF company_id ON cloud_accounts "
        "FOR EACH ROW WHEN (OLD.company_id <> NEW.company_id) "
        "EXECUTE FUNCTION record_former_group()"
    )
    op.execute(
        "CREATE TRIGGER record_former_group_of_deleted AFTER DELETE ON cloud_accounts "
        "FOR EACH ROW EXECUTE FUNCTION record_former_group()"
    )
    op.execute(f"GRANT {ALL_RIGHTS} ON signing_keys TO {APP_ROLE}")
    op.execute(f"GRANT SELECT ON alembic_version TO {APP_ROLE}")


def _differ(columns: Iterable[str]) -> str:
    """Whether an update changes one of the columns."""
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    return f"({old}) IS DISTINCT FROM ({new})"


def _protect_payments() -> None:
    """A payment is never deleted; its one change is that it is reversed."""
    op.execute(
        "CREATE TRIGGER refuse_deletion_of_payments BEFORE DELETE OR TRUNCATE ON payments "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute(
        "CREATE TRIGGER refuse_change_of_payment BEFORE UPDATE ON payments FOR EACH ROW "
        "WHEN (OLD.reversed_time IS NOT NULL OR NEW.reversed_time IS NULL "
        f"OR {_differ(FIXED_IN_PAYMENTS)}) EXECUTE FUNCTION refuse_change()"
    )


def downgrade() -> None:
    op.execute(f"DROP TABLE signing_keys, {', '.join(TENANT_TABLES)}")
    op.execute(f"DROP FUNCTION text_hash, {', '.join(FUNCTIONS)}")
