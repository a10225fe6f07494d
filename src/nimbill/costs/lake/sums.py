"""The queries that sum cost lines, written once with Ibis for all engines.

Each function receives the table of lines and returns an expression; nothing is executed here. The
sum of decimals is exact but has the same precision as one decimal. If that may overflow, the engine
passes lines whose cost is split into two columns (see `decimal_overflow.py`), and every sum has two
columns as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nimbill.costs.cost_line import RESERVATION_TEXTS, LineKind
from nimbill.costs.lake.decimal_overflow import WHOLE_SUFFIX

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, Table, Value

# See docs/choices.md, cost-sums.

RESERVATION_FEE = "RIFee"
SAVINGS_PLAN_FEE = "SavingsPlanRecurringFee"
# lines of a commitment that are no usage of it
_COMMITMENT_CHARGES = (RESERVATION_FEE, SAVINGS_PLAN_FEE, "SavingsPlanNegation")

# spelled out, because converting every unit to lower case takes a third of the query's time
_HOUR_UNITS = ("Hrs", "hrs", "Hours", "hours", "Hour", "hour", "1 Hour", "1 hour")
# what AWS rents by the hour and also sells as a reservation
_RESERVABLE_SERVICES = (
    "AmazonEC2",
    "AmazonRDS",
    "AmazonElastiCache",
    "AmazonMemoryDB",
    "AmazonRedshift",
    "AmazonES",
)
# without spot instances, hosts, disks and traffic; a region may precede the name
_INSTANCE_USAGE = (
    "(^|-)(BoxUsage|DedicatedUsage|InstanceUsage|InstanceUsageIOOptimized|Multi-AZUsage|"
    "NodeUsage|Node|ESInstance)(:|$)"
)
_AZURE_INSTANCES, _AZURE_ON_DEMAND = "Virtual Machines", "OnDemand"
# Texts of vendors become numbers here. The types are so narrow that no sum of them overflows;
# a number that does not fit counts as missing.
_HOURS, _FACTOR, _SHARE = "decimal(20, 10)", "decimal(8, 4)", "decimal(26, 12)"

_SUM_KEY = ("payer_id", "customer_id", "line_type", "kind", "service", "marketplace")
_COST_COLUMNS = ("cost", "cost" + WHOLE_SUFFIX)

_RESERVATION_COLUMNS = ("service", "usage_type", *RESERVATION_TEXTS)

_PLAN_TEXTS = ("reservation_start", "reservation_end", "payment_option", "term_length")

_ENTRY_COLUMNS = (
    "part",
    "line",
    "payer_id",
    "customer_id",
    "billing_entity",
    "line_type",
    "entry_type",
    "service",
    "service_name",
    "usage_type",
    "description",
    "currency",
    "cost",
    "usage_start",
    "usage_end",
    "invoice_id",
)


def monthly_sums(lines: Table) -> Table:
    """Sums per account, line type, service, day (UTC day of the usage start) and currency."""
    return lines.group_by(
        *_SUM_KEY, day=lines.usage_start.date(), currency=lines.currency
    ).aggregate(**_sum_cost(lines, "cost"), lines=lines.count())


def tag_sums(lines: Table) -> Table:
    """Sums by tag instead of day; a line is counted once for each of its tags."""
    cost = [name for name in lines.columns if name in _COST_COLUMNS]
    keyed = lines.select(*_SUM_KEY, "currency", *cost, "tags", tag_key=lines.tags.keys().unnest())
    tagged = keyed.select(
        *_SUM_KEY,
        "currency",
        *cost,
        "tag_key",
        tag_value=keyed.tags[keyed.tag_key].fill_null(""),
    )
    return tagged.group_by(*_SUM_KEY, "tag_key", "tag_value", "currency").aggregate(
        **_sum_cost(tagged, "cost"), lines=tagged.count()
    )


class TaggedSums:
    """Sums by day and by the values of all these tag keys together; a line is counted once.

    The value of the first key is `tag_1`, and so on; it is null for a line without the key.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)

    def __call__(self, lines: Table) -> Table:
        values = {
            f"tag_{number}": _tag_value(lines, key) for number, key in enumerate(self.keys, 1)
        }
        return lines.group_by(
            *_SUM_KEY, day=lines.usage_start.date(), **values, currency=lines.currency
        ).aggregate(**_sum_cost(lines, "cost"), lines=lines.count())


def _tag_value(lines: Table, key: str) -> Value:
    """A key without a value has the value "", as in `tag_sums`."""
    return lines.tags.contains(key).ifelse(lines.tags[key].fill_null(""), None)


def product_names(lines: Table) -> Table:
    """Names of the products that an account bought under a marketplace service, each once."""
    named = lines.filter(lines.marketplace, lines.service_name.fill_null("") != "")
    return named.select("payer_id", "customer_id", "service", name=named.service_name).distinct()


def line_totals(lines: Table) -> Table:
    """Costs and lines as the stored sums are verified, lines without an invoice id, and names."""
    return lines.group_by("payer_id", "customer_id", "currency", "kind").aggregate(
        **_sum_cost(lines, "cost"),
        lines=lines.count(),
        without_invoice_id=lines.count(where=lines.invoice_id.isnull()),
        customer_name=lines.customer_name.max(),
    )


def entry_lines(lines: Table) -> Table:
    """All one-off lines, from which recalculation entries are created."""
    return lines.filter(lines.kind == LineKind.entry.value).select(
        *_ENTRY_COLUMNS, *(name for name in lines.columns if name == "cost" + WHOLE_SUFFIX)
    )


def reservation_lines(lines: Table) -> Table:
    """Fee, number of instances and attributes per reservation and account.

    `fee_lines` is zero for accounts that use the reservation of another account.
    """
    reserved = lines.filter(lines.reservation_id.notnull())
    is_fee = (reserved.line_type == RESERVATION_FEE) | (reserved.kind == LineKind.entry.value)
    attributes = {name: _prefer_fee_lines(reserved[name], is_fee) for name in _RESERVATION_COLUMNS}
    return reserved.group_by("reservation_id", "payer_id", "customer_id", "currency").aggregate(
        **_sum_cost(reserved, "fee", where=reserved.kind == LineKind.usage.value),
        fee_lines=reserved.count(where=is_fee),
        lines=reserved.count(),
        number=_prefer_fee_lines(reserved.reservation_number, is_fee),
        first_use=reserved.usage_start.min(),
        last_use=reserved.usage_start.max(),
        **attributes,
    )


def commitment_usage(lines: Table) -> Table:
    """Fees and usage of reservations and savings plans; an id is empty where there is none.

    `hour_lines` are the lines that state hours, and `factor_lines` those that also state a
    normalisation factor.
    """
    committed = lines.filter(lines.reservation_id.notnull() | lines.savings_plan_id.notnull())
    is_used = (
        (committed.kind == LineKind.usage.value)
        & committed.line_type.notin(_COMMITMENT_CHARGES)
        & (committed.commitment_status.fill_null("").lower() != "unused")
    )
    hours = _read_hours(committed)
    normalized_hours = hours * committed.normalization_factor.try_cast(_FACTOR)
    effective_cost = committed.effective_cost.try_cast(_SHARE)
    return committed.group_by(
        *("payer_id", "customer_id", "line_type", "kind"),
        reservation_id=committed.reservation_id.fill_null(""),
        savings_plan_id=committed.savings_plan_id.fill_null(""),
        used=is_used,
        currency=committed.currency,
    ).aggregate(
        **_sum_cost(committed, "cost"),
        lines=committed.count(),
        hours=hours.sum().fill_null(0),
        hour_lines=hours.count(),
        normalized_hours=normalized_hours.sum().fill_null(0),
        factor_lines=normalized_hours.count(),
        effective_cost=effective_cost.sum().fill_null(0),
        effective_lines=effective_cost.count(),
        **{name: committed[name].max().fill_null("") for name in _PLAN_TEXTS},
    )


def on_demand_usage(lines: Table) -> Table:
    """Hours, days and costs of instances that no reservation and no savings plan covers."""
    instances = lines.filter(
        lines.line_type == "Usage",
        lines.kind == LineKind.usage.value,
        lines.reservation_id.isnull() & lines.savings_plan_id.isnull(),
        ~lines.marketplace,
        _is_aws_instance(lines) | _is_azure_instance(lines),
    )
    hours = _read_hours(instances)
    return instances.group_by(
        *("payer_id", "customer_id", "kind", "service"),
        usage_type=instances.usage_type.fill_null(""),
        platform=instances.platform.fill_null(""),
        tenancy=instances.tenancy.fill_null(""),
        currency=instances.currency,
    ).aggregate(
        **_sum_cost(instances, "cost"),
        lines=instances.count(),
        days=instances.usage_start.date().nunique(),
        hours=hours.sum().fill_null(0),
        hour_lines=hours.count(),
        # both follow from the usage type
        region=instances.region.max().fill_null(""),
        instance_type=instances.instance_type.max().fill_null(""),
    )


def _is_aws_instance(lines: Table) -> BooleanValue:
    return lines.service.isin(_RESERVABLE_SERVICES) & lines.usage_type.re_search(_INSTANCE_USAGE)


def _is_azure_instance(lines: Table) -> BooleanValue:
    return (lines.service == _AZURE_INSTANCES) & (lines.pricing_category == _AZURE_ON_DEMAND)


def _read_hours(lines: Table) -> Value:
    """The hours of each line, or null if its quantity is not in hours."""
    states_hours = lines.pricing_unit.isin(_HOUR_UNITS)
    return states_hours.ifelse(lines.pricing_quantity.try_cast(_HOURS), None)


def _prefer_fee_lines(column: Value, is_fee: BooleanValue) -> Value:
    """The attributes of a reservation are most reliable on the lines of its fee."""
    return column.max(where=is_fee).coalesce(column.max())


def _sum_cost(lines: Table, name: str, where: BooleanValue | None = None) -> dict[str, Value]:
    """The sum over no lines is zero instead of null."""
    columns = [column for column in _COST_COLUMNS if column in lines.columns]
    return {
        name + column.removeprefix("cost"): lines[column].sum(where=where).fill_null(0)
        for column in columns
    }
