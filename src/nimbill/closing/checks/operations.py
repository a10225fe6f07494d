"""Builds the findings of a month from its invoices, those of the month before, and the sums."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.checks import records
from nimbill.closing.checks.bodies import CheckFinding, CheckList, FindingCause, FindingCode
from nimbill.closing.checks.finding_rules import (
    CheckLimits,
    InvoiceFigures,
    convert_amount_before,
    find_findings,
)
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import divide_decimals, subtract_decimals
from nimbill.invoicing.documents.stored_invoices import format_invoice_no

RATE_UNIT = Decimal("0.0001")
_ORDER = {code: position for position, code in enumerate(FindingCode)}

Invoices = dict[str, Row]  # by month


async def list_findings(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    *,
    vendor: str | None,
    code: FindingCode | None,
    page: slice,
) -> CheckList:
    """List the findings of the visible groups, by billinggroup_id, vendor and code."""
    settings = await load_settings(db, scope)
    limits = CheckLimits(settings.check_change_limit, settings.check_margin_limit)
    vendors = settings.vendors if vendor is None else [vendor]
    findings = [
        *await _check_invoices(db, scope, month, vendors, limits),
        *await _check_accounts(db, scope, month, vendors),
    ]
    findings.sort(
        key=lambda each: (each.billinggroup_id, each.vendor, _ORDER[each.code], each.customer_id)
    )
    requested = [each for each in findings if code is None or each.code is code]
    return CheckList(
        month=month,
        change_limit=limits.change,
        margin_limit=limits.margin,
        counts=dict(Counter(each.code.value for each in findings)),
        total=len(requested),
        findings=requested[page],
    )


async def _check_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendors: Sequence[str],
    limits: CheckLimits,
) -> list[CheckFinding]:
    months = [month, add_months(month, -1)]
    by_key: dict[tuple[str, str], Invoices] = defaultdict(dict)
    for row in await records.list_invoice_figures(db, scope, months, vendors):
        by_key[row.company_id, row.vendor][row.month] = row
    vanished = [company_id for (company_id, _), pair in by_key.items() if month not in pair]
    with_costs = await records.find_groups_with_costs(db, scope, month, vanished)
    return [
        finding
        for key, pair in by_key.items()
        for finding in _check_pair(pair, month, limits, has_costs=key in with_costs)
    ]


def _check_pair(
    pair: Invoices, month: str, limits: CheckLimits, *, has_costs: bool
) -> Iterator[CheckFinding]:
    row, row_before = pair.get(month), pair.get(add_months(month, -1))
    current, before = _read_figures(row), _read_figures(row_before)
    for code, cause in find_findings(current, before, limits, has_costs=has_costs):
        yield _build_finding(pair, month, code, cause)


def _read_figures(row: Row | None) -> InvoiceFigures | None:
    if row is None:
        return None
    return InvoiceFigures(
        currency=Currency(row.currency),
        cost_currency=Currency(row.cost_currency),
        exchange_rate=row.exchange_rate,
        amount=row.pre_tax,
        vendor_cost=row.vendor_cost,
    )


def _build_finding(
    pair: Invoices, month: str, code: FindingCode, cause: FindingCause
) -> CheckFinding:
    row, row_before = pair.get(month), pair.get(add_months(month, -1))
    current, before = _read_figures(row), _read_figures(row_before)
    amount_before = None if before is None else convert_amount_before(current or before, before)
    either = row or row_before
    assert either is not None, "a pair has an invoice"
    amount = None if current is None else current.amount
    margin = None if current is None else subtract_decimals(current.amount, current.vendor_cost)
    return CheckFinding(
        code=code,
        cause=cause,
        company_id=either.company_id,
        billinggroup_id=either.billinggroup_id,
        billinggroup_name=either.billinggroup_name,
        vendor=either.vendor,
        month=month,
        customer_id=None,
        customer_name=None,
        invoice_no=None if row is None else format_invoice_no(month, row.number),
        currency=either.currency,
        amount=amount,
        amount_before=amount_before,
        change=_calculate_change(amount, amount_before),
        vendor_cost=None if current is None else current.vendor_cost,
        margin=margin,
        margin_rate=(
            divide_decimals(margin, amount, RATE_UNIT) if margin is not None and amount else None
        ),
    )


def _calculate_change(amount: Decimal | None, before: Decimal | None) -> Decimal | None:
    """A share of last month's absolute amount, so that more always is a positive change."""
    if amount is None or not before:
        return None
    return divide_decimals(subtract_decimals(amount, before), abs(before), RATE_UNIT)


async def _check_accounts(
    db: AsyncConnection, scope: TenantScope, month: str, vendors: Sequence[str]
) -> list[CheckFinding]:
    before = add_months(month, -1)
    rows = await records.list_accounts_without_costs(db, scope, month, before, vendors)
    return [
        CheckFinding(
            code=FindingCode.missing_data,
            cause=FindingCause.account_without_costs,
            company_id=row.company_id,
            billinggroup_id=row.billinggroup_id,
            billinggroup_name=row.billinggroup_name,
            vendor=row.vendor,
            month=month,
            customer_id=row.customer_id,
            customer_name=row.name,
            invoice_no=None,
            currency=row.currency.lower(),
            amount=None,
            amount_before=row.cost_before,
            change=None,
            vendor_cost=None,
            margin=None,
            margin_rate=None,
        )
        for row in rows
    ]
