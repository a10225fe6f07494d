"""Statements that return the rows of portal pages, as somebody would write them by hand.

Each reads the terms of the invoice, or else the saved ones, and prices in SQL. Pages that calculate
further (forecast, anomalies, budgets) are compared with the priced rows they are calculated from.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bench.portal_data import MONTHS

# The months that the pages with calculations read: see the packages forecast and anomalies.
FORECAST_MONTHS, ANOMALY_MONTHS = MONTHS[-9:], MONTHS[-3:]

# Parameters: organisation, companies, months. Sums come first, so that only they are priced.
TERMS = """
    JOIN monthly_invoice_settings m ON m.organisation_id = $1 AND m.vendor = c.vendor
        AND m.month = c.month AND m.company_id = c.company_id
    LEFT JOIN invoices i ON i.organisation_id = $1 AND i.vendor = c.vendor
        AND i.month = c.month AND i.company_id = c.company_id
    LEFT JOIN invoice_revisions t ON t.organisation_id = $1 AND t.vendor = i.vendor
        AND t.month = i.month AND t.company_id = i.company_id AND t.revision = i.revision
"""
_RATE = "coalesce(t.exchange_rate, m.exchange_rate)"
_FACTOR = f"(1 - coalesce(t.discount_rate, m.discount_rate)) * {_RATE}"
_CURRENCY = "coalesce(t.currency, m.currency)"
_KEYS = ("company_id", "vendor", "month")
_OF_ACCOUNT = {"customer_id": "a.customer_id", "name": "a.name", "group_id": "g.group_id"}
_EXPRESSIONS = {"team": "s.tags ->> 'Team'", "stage": "s.tags ->> 'Stage'"}


def _name_outside(name: str) -> str:
    return _OF_ACCOUNT.get(name, f"u.{name}")


def select_sums(
    columns: Sequence[str],
    table: str = "cost_sums",
    *,
    joins: str = "",
    condition: str = "true",
    sums: Mapping[str, str] = MappingProxyType({"cost": "sum(s.cost)"}),
) -> str:
    """Sum the rows of each account of the customer, which an index returns by month, then all."""
    names = [name for name in columns if name not in _KEYS]
    outer = ", ".join(["a.company_id", "a.vendor", "u.month", *map(_name_outside, names)])
    inner = [name for name in names if name not in _OF_ACCOUNT]
    positions = ", ".join(str(number + 1) for number in range(3 + len(names)))
    inner_positions = ", ".join(str(number + 1) for number in range(1 + len(inner)))
    shown = ", ".join(
        [
            *(f"{_EXPRESSIONS.get(name, f's.{name}')} AS {name}" for name in inner),
            *(f"{expression} AS {name}" for name, expression in sums.items()),
        ]
    )
    # the largest number of days, and the sum of everything else
    totals = ", ".join(f"{'max' if name == 'days' else 'sum'}(u.{name}) AS {name}" for name in sums)
    return f"""
        SELECT {outer}, {totals}
        FROM cloud_accounts a {joins} CROSS JOIN LATERAL (
            SELECT s.month, {shown}
            FROM {table} s
            WHERE s.organisation_id = $1 AND s.vendor = a.vendor AND s.customer_id = a.customer_id
                AND s.month = ANY($3) AND s.kind = 'usage' AND {condition}
            GROUP BY {inner_positions}) AS u
        WHERE a.organisation_id = $1 AND a.company_id = ANY($2)
        GROUP BY {positions}
    """


def select_usage(
    columns: str, table: str = "cost_sums", *, joins: str = "", condition: str = "true"
) -> str:
    names = columns.split(", ")
    return f"""
        SELECT {", ".join(f"c.{name}" for name in names)}, {_CURRENCY}, c.cost * {_FACTOR}
        FROM ({select_sums(names, table, joins=joins, condition=condition)}) AS c {TERMS}
        ORDER BY {", ".join(f"c.{name}" for name in names)}
    """


BY_ACCOUNT = "month, vendor, customer_id, service, marketplace"
BY_GROUP = "month, vendor, group_id, service, marketplace"
MEMBERS = """
    LEFT JOIN account_group_members g ON g.organisation_id = a.organisation_id
        AND g.customer_id = a.customer_id
"""
DAILY = "month, vendor, day"
BY_SERVICE_AND_DAY = "month, day, vendor, customer_id, service, marketplace"

_PART = """
    SELECT s.month, s.service, s.marketplace, {1} AS tag_value, {2} AS cost FROM {0} s
    WHERE s.organisation_id = $1 AND s.vendor = a.vendor AND s.customer_id = a.customer_id
        AND s.month = ANY($3) AND s.kind = 'usage'
"""
# Usage without the tag is all usage less that with the tag.
ONE_TAG = f"""
    SELECT c.month, c.vendor, c.tag_value, c.service, c.marketplace, {_CURRENCY},
        c.cost * {_FACTOR}
    FROM (SELECT a.company_id, a.vendor, u.month, u.service, u.marketplace, u.tag_value,
            sum(u.cost) AS cost
        FROM cloud_accounts a CROSS JOIN LATERAL (
            SELECT month, service, marketplace, tag_value, sum(cost) AS cost FROM (
                {_PART.format("cost_tag_sums", "s.tag_value", "s.cost")} AND s.tag_key = 'Team'
                UNION ALL {_PART.format("cost_sums", "NULL", "s.cost")}
                UNION ALL {_PART.format("cost_tag_sums", "NULL", "-s.cost")} AND s.tag_key = 'Team'
            ) AS parts GROUP BY 1, 2, 3, 4) AS u
        WHERE a.organisation_id = $1 AND a.company_id = ANY($2)
        GROUP BY 1, 2, 3, 4, 5, 6) AS c {TERMS}
    ORDER BY c.month, c.vendor, c.tag_value, c.service
"""
BY_TAG = "month, vendor, tag_value, service, marketplace"
IS_RED = "s.tags ->> 'Team' = 'red'"
FEES = f"""
    SELECT c.vendor, c.customer_id, c.name, c.description, {_CURRENCY},
        c.unblended_cost * coalesce(nullif(c.exchange_rate, 0), {_RATE}), c.tax_free
    FROM (SELECT a.company_id, a.name, e.*
        FROM cloud_accounts a JOIN recalculation_entries e ON e.organisation_id = a.organisation_id
            AND e.vendor = a.vendor AND e.customer_id = a.customer_id
        WHERE a.organisation_id = $1 AND a.company_id = ANY($2) AND e.applied_month = ANY($3)
            AND e.calc_type = 'Fee') AS c {TERMS.replace("c.month", "c.applied_month")}
    ORDER BY c.vendor, c.customer_id, c.description
"""
_RESERVATION = """
    cloud_accounts a JOIN reserved_instances r ON r.organisation_id = a.organisation_id
        AND r.vendor = a.vendor AND r.customer_id = a.customer_id
    JOIN reservation_fees f ON f.organisation_id = r.organisation_id AND f.ri_id = r.ri_id
"""
RESERVATIONS = f"""
    SELECT c.reservation_id, c.customer_id, c.name, c.service, c.instance_type, c.region,
        c.instances, {_CURRENCY}, c.fee * {_FACTOR}
    FROM (SELECT a.company_id, a.name, r.*, f.month, f.fee, f.number AS instances
        FROM {_RESERVATION}
        WHERE a.organisation_id = $1 AND a.company_id = ANY($2) AND f.month = ANY($3)) AS c {TERMS}
    ORDER BY c.vendor, c.customer_id, c.ri_id
"""
RESERVATION_USE = f"""
    SELECT r.reservation_id, r.customer_id, a.name, r.service, r.instance_type, r.region, f.number,
        (SELECT sum(u.normalized_hours) / r.normalization_factor FROM commitment_usage u
            WHERE u.organisation_id = $1 AND u.vendor = r.vendor AND u.month = f.month
                AND u.reservation_id = r.reservation_id AND u.reservation_id <> '' AND u.used)
    FROM {_RESERVATION}
    WHERE a.organisation_id = $1 AND a.company_id = ANY($2) AND f.month = ANY($3)
    ORDER BY r.vendor, r.customer_id, r.ri_id
"""
_INSTANCE = ("customer_id", "name", "service", "region", "usage_type", "instance_type")
RECOMMENDATIONS = f"""
    SELECT {", ".join(f"c.{name}" for name in _INSTANCE)}, c.platform, c.tenancy, c.hours, c.days,
        {_CURRENCY}, c.cost * {_FACTOR}
    FROM ({
    select_sums(
        (*_INSTANCE, "platform", "tenancy"),
        "on_demand_usage",
        sums={"cost": "sum(s.cost)", "hours": "sum(s.hours)", "days": "max(s.days)"},
    )
}) AS c {TERMS}
    ORDER BY c.customer_id, c.service, c.region, c.usage_type
"""
_IS_FEE = "line_type = 'SavingsPlanRecurringFee'"
SAVINGS_PLANS = f"""
    SELECT c.savings_plan_id, c.customer_id, c.name, {_CURRENCY}, c.fee * {_FACTOR},
        c.covered * {_FACTOR},
        (SELECT round(100 * sum(o.effective_cost) FILTER (WHERE o.used)
                / sum(o.cost) FILTER (WHERE o.{_IS_FEE}), 2)
            FROM commitment_usage o WHERE o.organisation_id = $1 AND o.vendor = c.vendor
                AND o.month = c.month AND o.savings_plan_id = c.savings_plan_id
                AND o.savings_plan_id <> '')
    FROM ({
    select_sums(
        ("savings_plan_id", "customer_id", "name"),
        "commitment_usage",
        condition="s.savings_plan_id <> ''",
        sums={
            "fee": f"sum(s.cost) FILTER (WHERE s.{_IS_FEE})",
            "covered": "sum(s.cost) FILTER (WHERE s.used)",
        },
    )
}) AS c {TERMS}
    ORDER BY c.vendor, c.savings_plan_id
"""
INVOICES = """
    SELECT i.month, i.vendor, i.number, d.issue_date, d.due_date, t.currency, t.pre_tax, t.tax,
        t.total
    FROM invoices i
    JOIN invoice_revisions t USING (organisation_id, month, company_id, vendor, revision)
    CROSS JOIN LATERAL json_to_record(t.document::json) AS d (issue_date text, due_date text)
    WHERE organisation_id = $1 AND company_id = ANY($2) AND month = ANY($3)
    ORDER BY i.month DESC, i.vendor, i.number
"""


_TYPES = {"month": "text", "day": "date", "marketplace": "boolean"}


def select_part(part: int, columns: str, months: Sequence[str]) -> str:
    """A part of the dashboard: month, day, account, service and marketplace, or null for them."""
    used = columns.split(", ")
    shown = ", ".join(
        f"c.{name}" if name in used else f"NULL::{_TYPES.get(name, 'text')}"
        for name in ("month", "day", "customer_id", "service", "marketplace")
    )
    listed = ", ".join(f"'{month}'" for month in months)
    sums = select_sums(used, condition=f"s.month IN ({listed})")
    return f"SELECT {part}, {shown}, {_CURRENCY}, c.cost * {_FACTOR} FROM ({sums}) AS c {TERMS}"


DASHBOARD = " UNION ALL ".join(
    (
        select_part(1, "month", MONTHS),
        select_part(2, "month, customer_id", MONTHS[-1:]),
        select_part(3, "month, service, marketplace", MONTHS[-1:]),
        select_part(4, "month, day", FORECAST_MONTHS),
        select_part(5, "month, day, customer_id, service, marketplace", ANOMALY_MONTHS),
    )
)

BUDGETS = f"""
    SELECT 1, * FROM ({select_usage(DAILY)}) AS company
    UNION ALL
    SELECT 2, * FROM ({select_usage(DAILY, "cost_tagged_sums", condition=IS_RED)}) AS tag
"""
