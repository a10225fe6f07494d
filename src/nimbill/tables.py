"""Every table of the service, gathered for migrations and for the tests that compare them."""

from nimbill import directory, idempotency
from nimbill.access import holdings, keyring
from nimbill.audit import records as audit
from nimbill.billing_groups import records as billing_groups
from nimbill.cloud_accounts import records as cloud_accounts
from nimbill.costs import records as costs
from nimbill.exports import records as exports
from nimbill.imports import records as imports
from nimbill.invoice_templates import records as invoice_templates
from nimbill.invoices import created_records as created_invoices
from nimbill.invoices import records as invoices
from nimbill.invoices import run_records as invoice_runs
from nimbill.legacy.agent import records as legacy_agents
from nimbill.legacy.containers import records as legacy_containers
from nimbill.legacy.provisioning import records as legacy_instances
from nimbill.legacy.roles import records as legacy_roles
from nimbill.legacy.stacks import records as legacy_stacks
from nimbill.legacy.templates import records as legacy_templates
from nimbill.login import records as login
from nimbill.months import records as months
from nimbill.organisation_settings import records as organisation_settings
from nimbill.organisations import records as organisations
from nimbill.projects import records as projects
from nimbill.recalculation import records as recalculation
from nimbill.resellers import records as resellers
from nimbill.reserved_instances import fee_records as reservation_fees
from nimbill.reserved_instances import records as reserved_instances
from nimbill.storage import metadata
from nimbill.users import records as users
from nimbill.work import records as work

__all__ = [
    "audit",
    "billing_groups",
    "cloud_accounts",
    "costs",
    "created_invoices",
    "directory",
    "exports",
    "holdings",
    "idempotency",
    "imports",
    "invoice_runs",
    "invoice_templates",
    "invoices",
    "keyring",
    "legacy_agents",
    "legacy_containers",
    "legacy_instances",
    "legacy_roles",
    "legacy_stacks",
    "legacy_templates",
    "login",
    "metadata",
    "months",
    "organisation_settings",
    "organisations",
    "projects",
    "recalculation",
    "resellers",
    "reservation_fees",
    "reserved_instances",
    "users",
    "work",
]
