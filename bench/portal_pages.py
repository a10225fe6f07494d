"""The pages of the portal that are measured, and for each the statement with the same rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from bench import portal_statements as statements
from bench.portal_data import FIRST_MONTH, LAST_MONTH, MONTHS
from nimbill.portal.anomalies.routes import list_anomalies
from nimbill.portal.budgets.routes import read_budgets
from nimbill.portal.commitments.routes import (
    list_portal_reservations,
    list_savings_plans,
    read_recommendations,
    read_reservation_use,
)
from nimbill.portal.dashboard.routes import read_dashboard
from nimbill.portal.fees.bodies import FeeKind
from nimbill.portal.fees.routes import list_fees
from nimbill.portal.forecast.routes import read_forecast
from nimbill.portal.groups.routes import read_group_graph, read_group_usage
from nimbill.portal.invoices.routes import list_customer_invoices
from nimbill.portal.report_parameters import ReportSelection
from nimbill.portal.tags.routes import (
    read_cross_tag_graph,
    read_cross_tag_usage,
    read_tag_graph,
    read_tag_usage,
)
from nimbill.portal.usage.routes import read_account_graph, read_account_usage

MONTH = {"month": LAST_MONTH}
YEAR = {"first": FIRST_MONTH, "last": LAST_MONTH}
SELECTED_MONTH = {"selection": ReportSelection(LAST_MONTH, None, None, None)}
SELECTED_YEAR = {"selection": ReportSelection(None, FIRST_MONTH, LAST_MONTH, None)}

Rows = Iterable[tuple[Any, ...]]


class PortalPage(NamedTuple):
    """`list_rows` lists what the page shows; `list_bare_rows` the same from the statement."""

    route: Any
    parameters: Mapping[str, Any]
    statement: str
    months: Sequence[str]
    list_rows: Callable[[Any], Rows]
    list_bare_rows: Callable[[Sequence[tuple[Any, ...]]], Rows] = list


# ── the rows of pages ────────────────────────────────────────────────────────────────────────────


RESERVATION_FIELDS = (
    "reservation_id",
    "customer_id",
    "customer_name",
    "service",
    "instance_type",
    "region",
    "number",
)


def list_fields(*names: str) -> Callable[[Any], Rows]:
    return lambda body: [tuple(getattr(row, name) for name in names) for row in body.rows]


def list_points(get_key: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], Rows]:
    """The points of a graph without those of zero."""

    def list_rows(body: Any) -> Iterator[tuple[Any, ...]]:
        for series in body.series:
            for point, amount in zip(body.points, series.amounts, strict=True):
                if amount:
                    yield *get_key(series), point, series.currency, amount

    return list_rows


def format_days(rows: Sequence[tuple[Any, ...]]) -> Rows:
    """Graphs have texts as points."""
    return [tuple(str(each) if hasattr(each, "day") else each for each in row) for row in rows]


def sum_last_month(rows: Rows) -> dict[str, Decimal]:
    """The month comes first, currency and amount last."""
    sums: dict[str, Decimal] = {}
    for month, *_, currency, amount in rows:
        if month == LAST_MONTH:
            sums[currency] = sums.get(currency, Decimal(0)) + amount
    return sums


def list_dashboard(body: Any) -> Iterator[tuple[Any, ...]]:
    for total in body.totals:
        yield 1, total.month, total.currency, total.amount
    for account in body.top_accounts:
        yield 2, account.customer_id, account.currency, account.amount
    for service in body.top_services:
        yield 3, service.service, service.currency, service.amount
    for each in body.forecasts:
        yield 4, each.currency, each.month_to_date


def list_bare_dashboard(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for part, month, _, customer_id, service, _, currency, amount in rows:
        if part in (1, 2, 3):
            yield part, (month, customer_id, service)[part - 1], currency, amount
    daily = [row[1:] for row in rows if row[0] == 4]
    yield from ((4, *each) for each in sum_last_month(daily).items())


def list_anomaly_sums(body: Any) -> Rows:
    return [
        (each.day, each.customer_id, each.service, each.currency, each.value)
        for each in body.anomalies
    ]


def list_bare_anomalies(rows: Sequence[tuple[Any, ...]]) -> Rows:
    """The benchmark's data has one unusual day of each month and unusual account."""
    unusual = [row for row in rows if row[0] == LAST_MONTH and str(row[1])[8:] == "21"]
    largest = max(row[-1] for row in unusual)
    return [
        (str(day), customer_id, service, currency, amount)
        for _, day, _, customer_id, service, _, currency, amount in unusual
        if amount * 3 > largest
    ]


PAGES: dict[str, PortalPage] = {
    "account usage, one month": PortalPage(
        read_account_usage,
        SELECTED_MONTH,
        statements.select_usage(statements.BY_ACCOUNT),
        MONTHS[-1:],
        list_fields(*statements.BY_ACCOUNT.split(", "), "currency", "amount"),
    ),
    "account usage, 13 months": PortalPage(
        read_account_usage,
        SELECTED_YEAR,
        statements.select_usage(statements.BY_ACCOUNT),
        MONTHS,
        list_fields(*statements.BY_ACCOUNT.split(", "), "currency", "amount"),
    ),
    "account graph, one month by day": PortalPage(
        read_account_graph,
        SELECTED_MONTH,
        statements.select_usage("customer_id, day"),
        MONTHS[-1:],
        list_points(lambda series: (series.id,)),
        format_days,
    ),
    "account graph, 13 months": PortalPage(
        read_account_graph,
        SELECTED_YEAR,
        statements.select_usage("customer_id, month"),
        MONTHS,
        list_points(lambda series: (series.id,)),
    ),
    "group usage, 13 months": PortalPage(
        read_group_usage,
        SELECTED_YEAR,
        statements.select_usage(statements.BY_GROUP, joins=statements.MEMBERS),
        MONTHS,
        list_fields(*statements.BY_GROUP.split(", "), "currency", "amount"),
    ),
    "group graph, 13 months": PortalPage(
        read_group_graph,
        SELECTED_YEAR,
        statements.select_usage("group_id, month", joins=statements.MEMBERS),
        MONTHS,
        list_points(lambda series: (series.id or None,)),
    ),
    "tag usage, 13 months": PortalPage(
        read_tag_usage,
        {**SELECTED_YEAR, "key": "Team"},
        statements.ONE_TAG,
        MONTHS,
        list_fields(*statements.BY_TAG.split(", "), "currency", "amount"),
    ),
    "tag graph, one month by day": PortalPage(
        read_tag_graph,
        {**SELECTED_MONTH, "key": "Team"},
        statements.select_usage("team, day", "cost_tagged_sums"),
        MONTHS[-1:],
        list_points(lambda series: tuple(series.tag_values)),
        format_days,
    ),
    "crosstag usage, 13 months": PortalPage(
        read_cross_tag_usage,
        {**SELECTED_YEAR, "keys": "Team,Stage"},
        statements.select_usage(
            "month, vendor, team, stage, service, marketplace", "cost_tagged_sums"
        ),
        MONTHS,
        list_fields(
            "month",
            "vendor",
            "tag_value",
            "tag_value_2",
            "service",
            "marketplace",
            "currency",
            "amount",
        ),
    ),
    "crosstag graph, 13 months": PortalPage(
        read_cross_tag_graph,
        {**SELECTED_YEAR, "keys": "Team,Stage"},
        statements.select_usage("team, stage, month", "cost_tagged_sums"),
        MONTHS,
        list_points(lambda series: tuple(series.tag_values)),
    ),
    "fees": PortalPage(
        list_fees,
        MONTH | {"kind": FeeKind.fee},
        statements.FEES,
        MONTHS[-1:],
        list_fields(
            "vendor",
            "customer_id",
            "customer_name",
            "description",
            "currency",
            "amount",
            "tax_free",
        ),
    ),
    "dashboard": PortalPage(
        read_dashboard, YEAR, statements.DASHBOARD, MONTHS, list_dashboard, list_bare_dashboard
    ),
    "forecast": PortalPage(
        read_forecast,
        {},
        statements.select_usage(statements.DAILY),
        statements.FORECAST_MONTHS,
        lambda body: [(each.currency, each.month_to_date) for each in body.forecasts],
        lambda rows: sum_last_month(rows).items(),
    ),
    "anomalies": PortalPage(
        list_anomalies,
        MONTH,
        statements.select_usage(statements.BY_SERVICE_AND_DAY),
        statements.ANOMALY_MONTHS,
        list_anomaly_sums,
        list_bare_anomalies,
    ),
    "budgets": PortalPage(
        read_budgets,
        {},
        statements.BUDGETS,
        statements.ANOMALY_MONTHS,
        lambda body: [(each.currency, each.actual) for each in body.budgets],
        lambda rows: [
            each
            for part in (1, 2)
            for each in sum_last_month(row[1:] for row in rows if row[0] == part).items()
        ],
    ),
    "reservations": PortalPage(
        list_portal_reservations,
        MONTH,
        statements.RESERVATIONS,
        MONTHS[-1:],
        list_fields(
            *RESERVATION_FIELDS,
            "currency",
            "fee",
        ),
    ),
    "use of reservations": PortalPage(
        read_reservation_use,
        MONTH,
        statements.RESERVATION_USE,
        MONTHS[-1:],
        list_fields(
            *RESERVATION_FIELDS,
            "hours_used",
        ),
    ),
    "recommendations": PortalPage(
        read_recommendations,
        MONTH,
        statements.RECOMMENDATIONS,
        MONTHS[-1:],
        list_fields(
            "customer_id",
            "customer_name",
            "service",
            "region",
            "usage_type",
            "instance_type",
            "platform",
            "tenancy",
            "hours",
            "days",
            "currency",
            "amount",
        ),
    ),
    "savings plans": PortalPage(
        list_savings_plans,
        MONTH,
        statements.SAVINGS_PLANS,
        MONTHS[-1:],
        list_fields(
            "savings_plan_id",
            "customer_id",
            "customer_name",
            "currency",
            "fee",
            "covered_usage",
            "used_percentage",
        ),
    ),
    "invoices": PortalPage(
        list_customer_invoices,
        {},
        statements.INVOICES,
        MONTHS,
        lambda body: [
            (
                each.month,
                each.vendor,
                int(each.invoice_no.rpartition("-")[2]),
                each.issue_date,
                each.due_date,
                each.currency,
                each.pre_tax,
                each.tax,
                each.total,
            )
            for each in body
        ],
    ),
}
