"""What each billing group was last invoiced: its newest month with an invoice, all vendors."""

from collections import defaultdict
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, visible
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.money import Rounding, exact, exchanged, rounded, sum_of
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.documents.stored_invoices import invoice_revisions, invoices

basis = chosen("csv-headers")

_heads, _revisions = invoices.c, invoice_revisions.c


async def latest_pre_tax(db: AsyncConnection, scope: TenantScope) -> dict[str, Decimal]:
    """By company_id; a group without an invoice is not there.

    In the invoices' currency; where the vendors' invoices have two, in yen at each one's rate.
    """
    found: dict[str, list[Row]] = defaultdict(list)
    for row in await db.execute(_latest(scope)):
        found[row.company_id].append(row)
    return {company_id: _added(rows) for company_id, rows in found.items()}


def _added(rows: list[Row]) -> Decimal:
    used = {Currency(row.currency) for row in rows}
    currency = used.pop() if len(used) == 1 else Currency.jpy
    whole = sum_of(
        exchanged(exact(row.pre_tax), Currency(row.currency), currency, exact(row.rate or 1))
        for row in rows
    )
    return rounded(whole, currency, Rounding.half_up)


def _latest(scope: TenantScope) -> sa.Select[*tuple[object, ...]]:
    newest = (
        sa.select(_heads.company_id, sa.func.max(_heads.month).label("month"))
        .where(_heads.organisation_id == scope.organisation_id)
        .group_by(_heads.company_id)
        .subquery()
    )
    least, most = (
        which(_revisions.currency).over(partition_by=_heads.company_id)
        for which in (sa.func.min, sa.func.max)
    )
    written = sa.cast(_revisions.document, JSONB)["exchange_rate"].astext
    # the document is large, and is looked into only where there is something to exchange
    rate = sa.case((least != most, sa.cast(written, sa.Numeric)), else_=None).label("rate")
    return (
        sa.select(_heads.company_id, _revisions.currency, _revisions.pre_tax, rate)
        .join_from(
            invoices,
            newest,
            (newest.c.company_id == _heads.company_id) & (newest.c.month == _heads.month),
        )
        .join(
            invoice_revisions,
            (_revisions.organisation_id == _heads.organisation_id)
            & (_revisions.month == _heads.month)
            & (_revisions.company_id == _heads.company_id)
            & (_revisions.vendor == _heads.vendor)
            & (_revisions.revision == _heads.revision),
        )
        .join(
            billing_groups,
            (billing_groups.c.organisation_id == _heads.organisation_id)
            & (billing_groups.c.company_id == _heads.company_id),
        )
        .where(_heads.organisation_id == scope.organisation_id, *visible(scope))
        .order_by(_heads.company_id, _heads.vendor)
    )
