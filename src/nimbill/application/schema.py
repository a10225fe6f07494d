"""The database schema of the whole service: every table and every migration package.

Importing it imports most of the service; `migration_packages` is enough to migrate.
"""

from nimbill.access import effective_permissions, signing_keys
from nimbill.adjustments.recalculation import records as recalculation
from nimbill.adjustments.reserved_instances import fee_records as reservation_fees
from nimbill.adjustments.reserved_instances import records as reserved_instances
from nimbill.application.installed import EXTENSIONS
from nimbill.application.migration_packages import MIGRATIONS
from nimbill.audit import records as audit
from nimbill.closing.reconciliation import stored_results
from nimbill.costs.lake import commitment_records as commitments
from nimbill.costs.lake import product_name_records as product_names
from nimbill.costs.lake import records as costs
from nimbill.costs.months import records as months
from nimbill.customers.billing_groups import records as billing_groups
from nimbill.customers.cloud_accounts import records as cloud_accounts
from nimbill.customers.invoice_templates import records as invoice_templates
from nimbill.customers.organisation_settings import records as organisation_settings
from nimbill.customers.portal_branding import records as portal_branding
from nimbill.customers.projects import records as projects
from nimbill.customers.resellers import records as resellers
from nimbill.database import tenant_lookup
from nimbill.database.tenant_scope import metadata
from nimbill.http import idempotency
from nimbill.identity.login import records as login
from nimbill.identity.organisations import records as organisations
from nimbill.identity.users import records as users
from nimbill.imports import records as imports
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.exports import records as exports
from nimbill.invoicing.runs import month_settings
from nimbill.invoicing.runs import records as invoice_runs
from nimbill.jobs import records as jobs
from nimbill.webhooks import records as webhooks

EXTENSION_TABLES = tuple(table for extension in EXTENSIONS for table in extension.tables())

__all__ = [
    "EXTENSION_TABLES",
    "MIGRATIONS",
    "audit",
    "billing_groups",
    "cloud_accounts",
    "commitments",
    "costs",
    "effective_permissions",
    "exports",
    "idempotency",
    "imports",
    "invoice_runs",
    "invoice_templates",
    "jobs",
    "login",
    "metadata",
    "month_settings",
    "months",
    "organisation_settings",
    "organisations",
    "portal_branding",
    "product_names",
    "projects",
    "recalculation",
    "resellers",
    "reservation_fees",
    "reserved_instances",
    "signing_keys",
    "stored_invoices",
    "stored_results",
    "tenant_lookup",
    "users",
    "webhooks",
]
