"""Loads what the FOCUS files of a month are made of; nothing is changed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import CurrentLakeFile, cost_months, list_current_files
from nimbill.costs.months.records import month_states
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import TenantScope, of_tenant
from nimbill.foundation.errors import NotFound
from nimbill.foundation.vendor_names import NO_NAMES, ProviderNames, name_provider
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.publication import filter_published
from nimbill.invoicing.documents.stored_invoices import StoredInvoice, list_invoices


class VendorCosts(NamedTuple):
    """When the current costs of a vendor's month were imported, and whether they are final."""

    first_import: datetime
    last_import: datetime
    provisional: bool


class ClosingState(NamedTuple):
    closed: bool
    update_time: datetime


class FocusMonth(NamedTuple):
    """A month of an organisation, or one vendor's part of it."""

    month: str
    organisation_name: str
    files: Sequence[CurrentLakeFile]
    costs: Mapping[str, VendorCosts]  # by vendor
    states: Mapping[str, ClosingState]  # by vendor; a month without a state is open
    invoices: Sequence[StoredInvoice[InvoiceDocument]]
    provider_names: ProviderNames = NO_NAMES

    def name_provider(self, vendor: str) -> str:
        return name_provider(vendor, self.provider_names)

    def is_closed(self, vendor: str) -> bool:
        return vendor in self.states and self.states[vendor].closed

    def issuer_name(self, document: InvoiceDocument) -> str:
        """An invoice without a template names no issuer: the organisation issued it."""
        return document.issuer.company if document.issuer else self.organisation_name


def require_charges(month: FocusMonth, *, with_invoices: bool) -> None:
    """Refuse an export without a single charge."""
    if with_invoices and not month.invoices:
        raise NotFound(
            "no_invoices", "This month has no invoices. Create them before you export them."
        )
    if not with_invoices and not month.files:
        raise NotFound("nothing_imported", "No costs were imported for this month.")


async def load_focus_month(
    db: AsyncConnection,
    scope: TenantScope,
    organisation_name: str,
    month: str,
    vendor: str | None,
    *,
    published_only: bool = False,
) -> FocusMonth:
    """With `published_only`, without invoices that customers do not see yet."""
    settings = await load_settings(db, scope)
    conditions = filter_published(settings) if published_only else []
    return FocusMonth(
        month=month,
        organisation_name=organisation_name,
        files=await list_current_files(db, scope, month, vendor),
        costs=await _load_costs(db, scope, month),
        states=await _load_states(db, scope, month),
        invoices=await list_invoices(
            db, scope, month, vendor=vendor, with_cancelled=False, conditions=conditions
        ),
        provider_names=settings.provider_names,
    )


async def _load_costs(
    db: AsyncConnection, scope: TenantScope, month: str
) -> dict[str, VendorCosts]:
    columns = cost_months.c
    stmt = (
        sa.select(
            columns.vendor,
            sa.func.min(columns.update_time),
            sa.func.max(columns.update_time),
            sa.func.bool_or(columns.provisional),
        )
        .where(of_tenant(cost_months, scope), columns.month == month)
        .group_by(columns.vendor)
    )
    return {vendor: VendorCosts(*values) for vendor, *values in await db.execute(stmt)}


async def _load_states(
    db: AsyncConnection, scope: TenantScope, month: str
) -> dict[str, ClosingState]:
    columns = month_states.c
    stmt = sa.select(columns.vendor, columns.closed, columns.update_time).where(
        of_tenant(month_states, scope), columns.month == month
    )
    return {vendor: ClosingState(*values) for vendor, *values in await db.execute(stmt)}
