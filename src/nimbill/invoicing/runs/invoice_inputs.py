"""Everything an invoice is worked out from, asked for many groups at once."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.adjustments.reserved_instances.operations import MovedFee, moved_fees
from nimbill.costs.lake.records import EXACT, USAGE, cost_months, cost_sums, cost_tag_sums
from nimbill.customers.billing_groups.free_format_records import free_format_items
from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.invoice_templates.records import invoice_templates
from nimbill.customers.organisation_settings.records import OrganisationSettings, settings_of
from nimbill.customers.projects.records import projects
from nimbill.database.tenant_scope import Row, TenantScope, visible_rows
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import Vendor
from nimbill.invoicing.runs.month_settings import saved_settings

basis = chosen("what-an-invoice-counts")

TAX = "tax"


class Usage(NamedTuple):
    """A sum of usage lines as it is kept, or a reservation's fee that was moved."""

    customer_id: str
    tag: str
    service: str
    marketplace: bool
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class OfMonth:
    """What holds for every group of a month."""

    settings: OrganisationSettings
    imports: Sequence[Row]
    moved: Sequence[MovedFee]


@dataclass(slots=True)
class Gathered:
    """What is stored for one group, one vendor and one month."""

    group: Row
    saved: Row | None
    template: Row | None
    accounts: dict[str, str] = field(default_factory=dict)  # customer_id to its name
    usage: list[Usage] = field(default_factory=list)
    stock: dict[str, Decimal] = field(default_factory=dict)  # per currency, without vendor tax
    entries: list[Row] = field(default_factory=list)
    items: list[Row] = field(default_factory=list)
    imports: list[Row] = field(default_factory=list)


async def of_month(db: AsyncConnection, scope: TenantScope, month: str, vendor: Vendor) -> OfMonth:
    return OfMonth(
        settings=await settings_of(db, scope),
        imports=await imports_of_month(db, scope, month, vendor),
        moved=await moved_fees(db, scope, vendor, month),
    )


async def gather(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: str,
    company_ids: Collection[str],
    whole: OfMonth,
) -> dict[str, Gathered]:
    """By company_id; groups that are gone are left out. As many questions for one as for all."""
    groups = await _groups(db, scope, company_ids, whole.settings.invoice_template_id)
    saved = await _of_groups(db, scope, saved_settings, groups, vendor, month)
    found = {
        company_id: Gathered(group=row, saved=saved.get(company_id, [None])[0], template=template)
        for company_id, (row, template) in groups.items()
    }
    owner = await _put_accounts(db, scope, vendor, found)
    for company_id, rows in (
        await _of_groups(db, scope, free_format_items, groups, vendor)
    ).items():
        found[company_id].items = sorted(rows, key=lambda row: row.position)
    by_tag = {id_ for id_, one in found.items() if one.saved and one.saved.calc_type == "tag"}
    await _put_costs(db, scope, month, vendor, found, owner, whole, by_tag)
    _put_moved_fees(whole.moved, found, owner)
    await _put_entries(db, scope, month, vendor, found, owner)
    return found


async def _groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str], template_id: str | None
) -> dict[str, tuple[Row, Row | None]]:
    """Each with its project's fields and the template it is printed with."""
    question = (
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
            billing_groups.c.organisation_id == scope.organisation_id,
            visible_rows(billing_groups.c.company_id, company_ids),
        )
    )
    rows = (await db.execute(question)).all()
    wanted = {row.invoice_template_id or template_id for row in rows} - {None}
    templates_asked = sa.select(invoice_templates).where(
        invoice_templates.c.organisation_id == scope.organisation_id,
        visible_rows(invoice_templates.c.invoice_template_id, [name for name in wanted if name]),
    )
    templates = {row.invoice_template_id: row for row in await db.execute(templates_asked)}
    return {
        row.company_id: (row, templates.get(row.invoice_template_id or template_id or ""))
        for row in rows
    }


async def _of_groups(
    db: AsyncConnection,
    scope: TenantScope,
    table: sa.Table,
    company_ids: Collection[str],
    vendor: str,
    month: str | None = None,
) -> Mapping[str, list[Any]]:
    question = sa.select(table).where(
        table.c.organisation_id == scope.organisation_id,
        table.c.vendor == vendor,
        visible_rows(table.c.company_id, company_ids),
    )
    if month is not None:
        question = question.where(table.c.month == month)
    found: dict[str, list[Any]] = defaultdict(list)
    for row in await db.execute(question):
        found[row.company_id].append(row)
    return found


async def _put_accounts(
    db: AsyncConnection, scope: TenantScope, vendor: str, found: Mapping[str, Gathered]
) -> dict[str, str]:
    """Which group each of the accounts belongs to."""
    owner = {}
    for company_id, rows in (await _of_groups(db, scope, cloud_accounts, found, vendor)).items():
        for row in rows:
            found[company_id].accounts[row.customer_id] = row.name
            owner[row.customer_id] = company_id
    return owner


async def _put_costs(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: str,
    found: Mapping[str, Gathered],
    owner: Mapping[str, str],
    whole: OfMonth,
    by_tag: Collection[str],
) -> None:
    payers: dict[str, set[str]] = defaultdict(set)
    sums: dict[str, dict[tuple[str, str, bool, str], Decimal]] = defaultdict(dict)
    for customer_id, payer_id, kind, service, marketplace, currency, cost in await _sums(
        db, scope, month, vendor, owner
    ):
        company_id = owner[customer_id]
        payers[company_id].add(payer_id)
        if kind != TAX:
            stock = found[company_id].stock
            stock[currency] = _added(stock.get(currency), cost)
        if kind == USAGE:
            key = (customer_id, service, marketplace, currency)
            of_group = sums[company_id]
            of_group[key] = _added(of_group.get(key), cost)
    tagged = [name for name, company_id in owner.items() if company_id in by_tag]
    by_value = await _tagged(db, scope, month, vendor, tagged, whole.settings.cost_tag_key)
    for company_id, of_group in sums.items():
        for key, amount in of_group.items():
            found[company_id].usage += _parted(key, amount, by_value.get(key, []))
    for company_id, of_group_payers in payers.items():
        found[company_id].imports = [
            row for row in whole.imports if row.payer_id in of_group_payers
        ]


def _parted(
    key: tuple[str, str, bool, str], whole: Decimal, by_value: Sequence[tuple[str, Decimal, bool]]
) -> list[Usage]:
    """By the tag's values, and what has none of them under the empty one."""
    customer_id, service, marketplace, currency = key
    rest, some_left = whole, True
    parts = []
    for value, amount, all_lines in by_value:
        parts.append(Usage(customer_id, value, service, marketplace, currency, amount))
        rest, some_left = EXACT.subtract(rest, amount), some_left and not all_lines
    if some_left:
        parts.append(Usage(customer_id, "", service, marketplace, currency, rest))
    return parts


async def _sums(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str, customer_ids: Collection[str]
) -> Iterable[Row]:
    sums = cost_sums.c
    by = (
        sums.customer_id,
        sums.payer_id,
        sums.kind,
        sums.service,
        sums.marketplace,
        sums.currency,
    )
    question = (
        sa.select(*by, _sum(sums.cost))
        .where(
            sums.organisation_id == scope.organisation_id,
            sums.vendor == vendor,
            sums.month == month,
            visible_rows(sums.customer_id, customer_ids),
        )
        .group_by(*by)
    )
    return await db.execute(question)


async def _tagged(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: str,
    customer_ids: Collection[str],
    tag_key: str | None,
) -> dict[tuple[str, str, bool, str], list[tuple[str, Decimal, bool]]]:
    """Value, amount, and with the last value whether no line is left without one."""
    if not customer_ids or tag_key is None:
        return {}
    tags, by = cost_tag_sums.c, ("customer_id", "service", "marketplace", "currency")
    whole = (
        sa.select(
            *(cost_sums.c[name] for name in by), sa.func.sum(cost_sums.c.lines).label("lines")
        )
        .where(
            cost_sums.c.organisation_id == scope.organisation_id,
            cost_sums.c.vendor == vendor,
            cost_sums.c.month == month,
            cost_sums.c.kind == USAGE,
            visible_rows(cost_sums.c.customer_id, customer_ids),
        )
        .group_by(*(cost_sums.c[name] for name in by))
    )
    lines = {tuple(row[:4]): row.lines for row in await db.execute(whole)}
    question = (
        sa.select(
            *(tags[name] for name in by),
            tags.tag_value,
            _sum(tags.cost),
            sa.func.sum(tags.lines).label("lines"),
        )
        .where(
            tags.organisation_id == scope.organisation_id,
            tags.vendor == vendor,
            tags.month == month,
            tags.kind == USAGE,
            tags.tag_key == tag_key,
            visible_rows(tags.customer_id, customer_ids),
        )
        .group_by(*(tags[name] for name in by), tags.tag_value)
        .order_by(tags.tag_value)
    )
    found: dict[tuple[str, str, bool, str], list[tuple[str, Decimal, bool]]] = defaultdict(list)
    for row in await db.execute(question):
        key = (row.customer_id, row.service, row.marketplace, row.currency)
        lines[key] -= row.lines
        found[key].append((row.tag_value, row.cost, lines[key] == 0))
    return found


async def imports_of_month(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str
) -> Sequence[Row]:
    question = (
        sa.select(cost_months.c.payer_id, cost_months.c.import_id, cost_months.c.provisional)
        .where(
            cost_months.c.organisation_id == scope.organisation_id,
            cost_months.c.vendor == vendor,
            cost_months.c.month == month,
        )
        .order_by(cost_months.c.payer_id)
    )
    return (await db.execute(question)).all()


def _put_moved_fees(
    fees: Iterable[MovedFee], found: Mapping[str, Gathered], owner: Mapping[str, str]
) -> None:
    """At their new owner; under the empty tag, since whose tag it bears is not known."""
    for moved in fees:
        if moved.customer_id not in owner:
            continue
        one = found[owner[moved.customer_id]]
        one.stock[moved.currency] = _added(one.stock.get(moved.currency), moved.amount)
        one.usage.append(
            Usage(moved.customer_id, "", moved.service, False, moved.currency, moved.amount)
        )


async def _put_entries(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: str,
    found: Mapping[str, Gathered],
    owner: Mapping[str, str],
) -> None:
    entries = recalculation_entries.c
    question = (
        sa.select(recalculation_entries)
        .where(
            entries.organisation_id == scope.organisation_id,
            entries.vendor == vendor,
            entries.applied_month == month,
            visible_rows(entries.customer_id, owner),
        )
        .order_by(entries.customer_id, entries.usage_start, entries.entry_id)
    )
    for row in await db.execute(question):
        found[owner[row.customer_id]].entries.append(row)


def _sum(column: sa.ColumnElement[Decimal]) -> sa.Label[Decimal]:
    """Without idle zeros: lines are kept with 22 decimals, and nobody wrote that many."""
    return sa.func.trim_scale(sa.func.sum(column), type_=sa.Numeric).label("cost")


def _added(before: Decimal | None, amount: Decimal) -> Decimal:
    return amount if before is None else EXACT.add(before, amount)
