"""Loads everything that invoices are calculated from, with a fixed number of queries per batch."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.adjustments.reserved_instances.moved_fees import MovedFee, list_moved_fees
from nimbill.costs.lake.product_name_records import ProductNames, load_product_names
from nimbill.costs.lake.records import USAGE
from nimbill.costs.months.records import MonthState
from nimbill.customers.billing_groups.fee_targets import FeeTargets
from nimbill.customers.billing_groups.free_format_records import free_format_items
from nimbill.customers.billing_groups.records import InvoiceSetting, billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.invoice_templates.records import invoice_templates
from nimbill.customers.organisation_settings.records import OrganisationSettings, load_settings
from nimbill.customers.projects.records import projects
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import add_decimals, subtract_decimals
from nimbill.invoicing.documents.replaced_invoices import load_replaced_numbers
from nimbill.invoicing.runs import cost_records
from nimbill.invoicing.runs.cost_records import TagSum, UsageKey
from nimbill.invoicing.runs.month_settings import (
    SavedSetting,
    monthly_invoice_settings,
    replace_terms,
)

# See docs/choices.md, invoice-inputs.

TAX = "tax"

# by company_id, instead of the saved terms
OtherTerms = Mapping[str, tuple[InvoiceSetting, FeeTargets]]


class UsageSum(NamedTuple):
    """A sum of usage lines, or the moved fee of a reservation."""

    customer_id: str
    tag: str
    service: str
    marketplace: bool
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class MonthContext:
    """What all billing groups of a period share."""

    state: MonthState
    settings: OrganisationSettings
    imports: Sequence[Row]
    moved_fees: Sequence[MovedFee]


@dataclass(slots=True)
class InvoiceInputs:
    """What is stored for one billing group and period."""

    group: Row
    setting: SavedSetting | None  # of the month
    template: Row | None
    accounts: dict[str, str] = field(default_factory=dict)  # customer_id to account name
    usage: list[UsageSum] = field(default_factory=list)
    product_names: ProductNames = field(default_factory=dict)
    # per currency, without vendor tax
    vendor_cost: dict[str, Decimal] = field(default_factory=dict)
    entries: list[Row] = field(default_factory=list)
    items: list[Row] = field(default_factory=list)
    imports: list[Row] = field(default_factory=list)
    replaces: str | None = None  # the number of the invoice that the current one replaces


async def load_month_context(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, state: MonthState
) -> MonthContext:
    return MonthContext(
        state=state,
        settings=await load_settings(db, scope),
        imports=await cost_records.list_imports(db, scope, period),
        moved_fees=await list_moved_fees(db, scope, period, state),
    )


async def load_invoice_inputs(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    context: MonthContext,
    company_ids: Collection[str],
    other_terms: OtherTerms = MappingProxyType({}),
) -> dict[str, InvoiceInputs]:
    """Load inputs by company_id; deleted billing groups are left out."""
    loader = _InputLoader(db, scope, period, context, other_terms)
    await loader.load(company_ids)
    return loader.inputs


class _InputLoader:
    def __init__(
        self,
        db: AsyncConnection,
        scope: TenantScope,
        period: BillingPeriod,
        context: MonthContext,
        other_terms: OtherTerms,
    ) -> None:
        self.db, self.scope, self.period, self.context = db, scope, period, context
        self.other_terms = other_terms
        self.inputs: dict[str, InvoiceInputs] = {}  # by company_id
        self.company_ids: dict[str, str] = {}  # by customer_id

    async def load(self, company_ids: Collection[str]) -> None:
        await self._add_groups(company_ids)
        await self._add_accounts()
        await self._add_items()
        await self._add_costs()
        await self._add_product_names()
        self._add_moved_fees()
        await self._add_entries()
        await self._add_replaced_numbers()

    async def _add_groups(self, company_ids: Collection[str]) -> None:
        """Each group with its project's fields, its saved setting and its invoice template."""
        groups = await self._load_groups(company_ids)
        default_id = self.context.settings.invoice_template_id
        templates = await self._load_templates(
            {group.invoice_template_id or default_id for group in groups}
        )
        settings = await self._load_rows_by_group(
            monthly_invoice_settings,
            [group.company_id for group in groups],
            monthly_invoice_settings.c.month == self.period.month,
        )
        for group in groups:
            self.inputs[group.company_id] = InvoiceInputs(
                group=group,
                setting=self._choose_terms(
                    group.company_id, settings.get(group.company_id, [None])[0]
                ),
                template=templates.get(group.invoice_template_id or default_id or ""),
            )

    def _choose_terms(self, company_id: str, saved: Row | None) -> SavedSetting | None:
        terms = self.other_terms.get(company_id)
        return saved if saved is None or terms is None else replace_terms(saved, *terms)

    async def _load_groups(self, company_ids: Collection[str]) -> Sequence[Row]:
        stmt = (
            sa.select(
                billing_groups,
                projects.c.project_code,
                projects.c.project_label,
                projects.c.project_currency,
            )
            .join_from(
                billing_groups,
                projects,
                (projects.c.organisation_id == billing_groups.c.organisation_id)
                & (projects.c.project_id == billing_groups.c.project_id),
                isouter=True,
            )
            .where(
                of_tenant(billing_groups, self.scope),
                is_any_of(billing_groups.c.company_id, company_ids),
            )
        )
        return (await self.db.execute(stmt)).all()

    async def _load_templates(self, template_ids: Collection[str | None]) -> Mapping[str, Row]:
        known_ids = [template_id for template_id in template_ids if template_id]
        stmt = sa.select(invoice_templates).where(
            of_tenant(invoice_templates, self.scope),
            is_any_of(invoice_templates.c.invoice_template_id, known_ids),
        )
        return {row.invoice_template_id: row for row in await self.db.execute(stmt)}

    async def _load_rows_by_group(
        self, table: sa.Table, company_ids: Collection[str], *conditions: sa.ColumnElement[bool]
    ) -> Mapping[str, list[Any]]:
        stmt = sa.select(table).where(
            of_tenant(table, self.scope),
            table.c.vendor == self.period.vendor,
            is_any_of(table.c.company_id, company_ids),
            *conditions,
        )
        rows_by_group: dict[str, list[Any]] = defaultdict(list)
        for row in await self.db.execute(stmt):
            rows_by_group[row.company_id].append(row)
        return rows_by_group

    async def _add_accounts(self) -> None:
        for company_id, accounts in (
            await self._load_rows_by_group(cloud_accounts, self.inputs)
        ).items():
            for account in accounts:
                self.inputs[company_id].accounts[account.customer_id] = account.name
                self.company_ids[account.customer_id] = company_id

    async def _add_items(self) -> None:
        for company_id, items in (
            await self._load_rows_by_group(free_format_items, self.inputs)
        ).items():
            self.inputs[company_id].items = sorted(items, key=lambda item: item.position)

    async def _add_costs(self) -> None:
        payers: dict[str, set[str]] = defaultdict(set)
        usage: dict[str, dict[UsageKey, Decimal]] = defaultdict(dict)
        for (
            customer_id,
            payer_id,
            kind,
            service,
            marketplace,
            currency,
            cost,
        ) in await cost_records.load_cost_sums(self.db, self.scope, self.period, self.company_ids):
            company_id = self.company_ids[customer_id]
            payers[company_id].add(payer_id)
            if kind != TAX:
                _add_to(self.inputs[company_id].vendor_cost, currency, cost)
            if kind == USAGE:
                key = UsageKey(customer_id, service, marketplace, currency)
                _add_to(usage[company_id], key, cost)
        tag_sums = await self._load_tag_sums()
        for company_id, amounts in usage.items():
            for key, amount in amounts.items():
                self.inputs[company_id].usage += _split_by_tag(key, amount, tag_sums.get(key, []))
        for company_id, payer_ids in payers.items():
            self.inputs[company_id].imports = [
                row for row in self.context.imports if row.payer_id in payer_ids
            ]

    async def _add_product_names(self) -> None:
        """Load the names for accounts with marketplace usage; most have none."""
        customer_ids = {
            usage.customer_id
            for inputs in self.inputs.values()
            for usage in inputs.usage
            if usage.marketplace
        }
        if customer_ids:
            names = await load_product_names(self.db, self.scope, self.period, customer_ids)
            for inputs in self.inputs.values():
                inputs.product_names = names

    async def _load_tag_sums(self) -> Mapping[UsageKey, Sequence[TagSum]]:
        """Load sums for the accounts of billing groups that are invoiced by tag."""
        customer_ids = [
            customer_id
            for customer_id, company_id in self.company_ids.items()
            if self._is_invoiced_by_tag(company_id)
        ]
        tag_key = self.context.settings.cost_tag_key
        if not customer_ids or tag_key is None:
            return {}
        return await cost_records.load_tag_sums(
            self.db, self.scope, self.period, customer_ids, tag_key
        )

    def _is_invoiced_by_tag(self, company_id: str) -> bool:
        setting = self.inputs[company_id].setting
        return setting is not None and setting.calc_type == "tag"

    def _add_moved_fees(self) -> None:
        """Add each fee to its new owner, under the empty tag because its tags are unknown."""
        for fee in self.context.moved_fees:
            if fee.customer_id in self.company_ids:
                inputs = self.inputs[self.company_ids[fee.customer_id]]
                _add_to(inputs.vendor_cost, fee.currency, fee.amount)
                inputs.usage.append(
                    UsageSum(fee.customer_id, "", fee.service, False, fee.currency, fee.amount)
                )

    async def _add_entries(self) -> None:
        entries = recalculation_entries.c
        stmt = (
            sa.select(recalculation_entries)
            .where(
                of_tenant(recalculation_entries, self.scope),
                entries.vendor == self.period.vendor,
                entries.applied_month == self.period.month,
                is_any_of(entries.customer_id, self.company_ids),
            )
            .order_by(entries.customer_id, entries.usage_start, entries.entry_id)
        )
        for entry in await self.db.execute(stmt):
            self.inputs[self.company_ids[entry.customer_id]].entries.append(entry)

    async def _add_replaced_numbers(self) -> None:
        numbers = await load_replaced_numbers(self.db, self.scope, self.period, self.inputs)
        for company_id, invoice_no in numbers.items():
            self.inputs[company_id].replaces = invoice_no


def _split_by_tag(key: UsageKey, total: Decimal, tag_sums: Sequence[TagSum]) -> list[UsageSum]:
    """Split into one sum per tag value, and one with the empty tag for lines without a value."""
    remaining, has_untagged_lines = total, True
    parts = []
    for tag in tag_sums:
        parts.append(_build_usage_sum(key, tag.value, tag.amount))
        remaining = subtract_decimals(remaining, tag.amount)
        has_untagged_lines = has_untagged_lines and not tag.is_complete
    if has_untagged_lines:
        parts.append(_build_usage_sum(key, "", remaining))
    return parts


def _build_usage_sum(key: UsageKey, tag: str, amount: Decimal) -> UsageSum:
    return UsageSum(key.customer_id, tag, key.service, key.marketplace, key.currency, amount)


def _add_to(amounts: dict[Any, Decimal], key: Any, amount: Decimal) -> None:
    """The first amount is stored unchanged, because an addition may change its exponent."""
    before = amounts.get(key)
    amounts[key] = amount if before is None else add_decimals(before, amount)
