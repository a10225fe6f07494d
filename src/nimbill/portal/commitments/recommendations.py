"""Instances of the visible accounts that run on demand and are worth reserving."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.commitment_records import list_on_demand_usage
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import strip_zeros
from nimbill.portal.commitments.bodies import Recommendation, RecommendationList
from nimbill.portal.commitments.commitment_rules import count_hours, recommend_number
from nimbill.portal.commitments.pricing import ReportPricing, VendorCost
from nimbill.portal.commitments.reservations import ViewedNames
from nimbill.portal.former_owners import ViewedMonths
from nimbill.portal.prices import PriceKey
from nimbill.portal.report_basis import load_report_basis
from nimbill.portal.usage.bodies import list_unpriced, list_usage_months
from nimbill.portal.view import AccountKey, PortalView


async def list_recommendations(
    db: AsyncConnection, view: PortalView, month: str, now: datetime
) -> RecommendationList:
    """List the steady usage on demand; the price of a reservation is not known."""
    month_hours = count_hours(month, now)
    report_basis = await load_report_basis(db, view, [month])
    usage = await _load_steady_usage(db, report_basis.accounts, month, month_hours)
    company_ids = {key.company_id for key, _, _ in usage}
    pricing = ReportPricing(await report_basis.load_prices(db, company_ids))
    names = ViewedNames(view.list_names())
    return RecommendationList(
        month=month,
        month_hours=month_hours,
        rows=[
            _build_recommendation(key, row, number, names, pricing) for key, row, number in usage
        ],
        months=list_usage_months(pricing.usage),
        unpriced=list_unpriced(pricing.usage.unpriced),
    )


async def _load_steady_usage(
    db: AsyncConnection, accounts: ViewedMonths, month: str, month_hours: int
) -> list[tuple[PriceKey, Row, int]]:
    """Return who pays, the usage, and the number of instances to reserve."""
    scope = TenantScope(accounts.scope.organisation_id)
    steady = []
    for vendor in sorted({key.vendor for key in accounts}):
        customer_ids = [key.customer_id for key in accounts if key.vendor == vendor]
        period = BillingPeriod(month, vendor)
        for row in await list_on_demand_usage(db, scope, period, customer_ids):
            present = accounts[AccountKey(vendor, row.customer_id)].company_id
            company_id = accounts.find_owner(vendor, row.customer_id, month, present)
            number = recommend_number(row.hours, row.days, month_hours)
            if company_id is not None and number:
                steady.append((PriceKey(company_id, vendor, month), row, number))
    return steady


def _build_recommendation(
    key: PriceKey, row: Row, number: int, names: ViewedNames, pricing: ReportPricing
) -> Recommendation:
    currency, amount = pricing.convert(key, [VendorCost(row.cost, row.currency)])
    return Recommendation(
        vendor=key.vendor,
        customer_id=row.customer_id,
        customer_name=names[row.customer_id],
        service=row.service,
        region=row.region,
        usage_type=row.usage_type,
        # a usage type such as BoxUsage:m5.large ends with the type of the instance
        instance_type=row.instance_type or row.usage_type.partition(":")[2],
        platform=row.platform,
        tenancy=row.tenancy,
        hours=strip_zeros(row.hours),
        days=row.days,
        number=number,
        currency=currency,
        amount=amount,
    )
