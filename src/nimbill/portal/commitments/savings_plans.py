"""The savings plans of the visible accounts, with their fees and their use in a month."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.vendor_values import format_time, parse_time
from nimbill.costs.lake.commitment_records import (
    RECURRING_FEE,
    PlanUse,
    list_plan_usage,
    load_plan_use,
)
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.portal.commitments.bodies import SavingsPlan, SavingsPlanList
from nimbill.portal.commitments.commitment_rules import calculate_percentage
from nimbill.portal.commitments.pricing import ReportPricing, VendorCost
from nimbill.portal.commitments.reservations import ViewedNames, derive_state
from nimbill.portal.former_owners import ViewedMonths
from nimbill.portal.prices import PriceKey
from nimbill.portal.report_basis import load_report_basis
from nimbill.portal.usage.bodies import list_unpriced, list_usage_months
from nimbill.portal.view import AccountKey, PortalView

# Only the owner of a plan has such lines: of AWS, and of Azure and FOCUS.
OWNER_LINES = (RECURRING_FEE, "SavingsPlanUpfrontFee", "Purchase")
NO_UPFRONT = "no upfront"


class PlanKey(NamedTuple):
    vendor: str
    savings_plan_id: str
    company_id: str


@dataclass(slots=True)
class OwnedPlan:
    """A savings plan of one company in a month."""

    customer_id: str = ""
    fees: list[VendorCost] = field(default_factory=list)
    covered: list[VendorCost] = field(default_factory=list)
    start: str = ""
    end: str = ""
    payment_option: str = ""
    term_length: str = ""


async def list_plans(
    db: AsyncConnection, view: PortalView, month: str, now: datetime
) -> SavingsPlanList:
    """List the plans that a visible account owns; the use by all accounts counts."""
    report_basis = await load_report_basis(db, view, [month])
    accounts = report_basis.accounts
    plans: dict[PlanKey, OwnedPlan] = {}
    uses: dict[tuple[str, str], PlanUse] = {}
    scope = TenantScope(view.scope.organisation_id)
    for vendor in sorted({key.vendor for key in accounts}):
        period = BillingPeriod(month, vendor)
        customer_ids = [key.customer_id for key in accounts if key.vendor == vendor]
        rows = await list_plan_usage(db, scope, period, customer_ids)
        owned = _collect_plans(rows, accounts, period)
        by_id = await load_plan_use(db, scope, period, {key.savings_plan_id for key in owned})
        uses |= {(vendor, plan_id): use for plan_id, use in by_id.items()}
        plans |= owned
    company_ids = {key.company_id for key in plans}
    pricing = ReportPricing(await report_basis.load_prices(db, company_ids))
    names = ViewedNames(view.list_names())
    return SavingsPlanList(
        month=month,
        rows=[
            _build_plan(
                key,
                plan,
                names[plan.customer_id],
                pricing,
                BillingPeriod(month, key.vendor),
                calculate_use(plan, uses.get(key[:2])),
                now,
            )
            for key, plan in sorted(plans.items(), key=lambda item: item[0])
        ],
        months=list_usage_months(pricing.usage),
        unpriced=list_unpriced(pricing.usage.unpriced),
    )


def _collect_plans(
    rows: Sequence[Row], accounts: ViewedMonths, period: BillingPeriod
) -> Mapping[PlanKey, OwnedPlan]:
    """Plans of which the company only uses a part are left out: their ids name the owner."""
    plans: dict[PlanKey, OwnedPlan] = {}
    for row in rows:
        account = accounts[AccountKey(period.vendor, row.customer_id)]
        company_id = accounts.find_owner(
            period.vendor, row.customer_id, period.month, account.company_id
        )
        if company_id is not None:
            key = PlanKey(period.vendor, row.savings_plan_id, company_id)
            _add_row(plans.setdefault(key, OwnedPlan()), row)
    return {key: plan for key, plan in plans.items() if plan.customer_id}


def _add_row(plan: OwnedPlan, row: Row) -> None:
    cost = VendorCost(row.cost, row.currency)
    if row.line_type in OWNER_LINES:
        plan.customer_id = row.customer_id
    if row.line_type == RECURRING_FEE:
        plan.fees.append(cost)
    if row.used:
        plan.covered.append(cost)
    plan.start = plan.start or row.reservation_start
    plan.end = plan.end or row.reservation_end
    plan.payment_option = plan.payment_option or row.payment_option
    plan.term_length = plan.term_length or row.term_length


def calculate_use(plan: OwnedPlan, use: PlanUse | None) -> Decimal | None:
    """The used share of the fee, in per cent.

    It is unknown if a part was paid upfront, because the lines do not state that part of a month.
    """
    if use is None or use.used is None or plan.payment_option.lower() != NO_UPFRONT:
        return None
    return calculate_percentage(use.used, use.fee)


def _build_plan(
    key: PlanKey,
    plan: OwnedPlan,
    customer_name: str,
    pricing: ReportPricing,
    period: BillingPeriod,
    used_percentage: Decimal | None,
    now: datetime,
) -> SavingsPlan:
    price_key = PriceKey(key.company_id, period.vendor, period.month)
    fee, covered = (pricing.convert(price_key, costs) for costs in (plan.fees, plan.covered))
    end = parse_time(plan.end)
    return SavingsPlan(
        savings_plan_id=key.savings_plan_id,
        vendor=key.vendor,
        customer_id=plan.customer_id,
        customer_name=customer_name,
        payment_option=plan.payment_option,
        term_length=plan.term_length,
        start=format_time(parse_time(plan.start)),
        end=format_time(end),
        state=derive_state(end, now),
        currency=fee.currency or covered.currency,
        fee=fee.amount,
        covered_usage=covered.amount,
        used_percentage=used_percentage,
    )
