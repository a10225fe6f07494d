"""Statements that sum the usage of accounts: by day, by one tag, or by the tag keys of reports."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from nimbill.costs.lake.records import cost_months, cost_sums, cost_tag_sums, cost_tagged_sums
from nimbill.database.tenant_scope import is_any_of, of_given_tenant

ACCOUNT = "customer_id"
TAG_COLUMNS = ("tag_value", "tag_value_2")

# key to the values of which a cost must have one, as in the filters of a user
TagFilters = Mapping[str, Collection[str]]
Select = sa.Select[*tuple[Any, ...]]

_TEXTS = ARRAY(sa.Text)
_MONTHS: sa.BindParameter[Any] = sa.bindparam("months")
_REQUIRED_KEYS = sa.bindparam("required_keys", type_=_TEXTS)
_ACCOUNT_COLUMNS = ("vendor", "customer_id", "company_id")
_viewed = (
    sa.func.unnest(*(sa.bindparam(f"viewed_{name}", type_=_TEXTS) for name in _ACCOUNT_COLUMNS))
    .table_valued(*(sa.column(name, sa.Text) for name in _ACCOUNT_COLUMNS), name="viewed")
    .render_derived()
)


class UsageStatement(NamedTuple):
    """`values` are the parameters of the source; `tag_keys` those that a month must have."""

    stmt: Select
    values: dict[str, object]
    tag_keys: frozenset[str] = frozenset()


def list_account_values(
    accounts: Iterable[tuple[str, str]], company_ids: Iterable[str]
) -> dict[str, list[str]]:
    """The parameters of the statements for accounts, by vendor and number, and their companies."""
    columns = [list(column) for column in zip(*accounts, strict=True)] or [[], []]
    columns.append(list(company_ids))
    return {
        f"viewed_{name}": column for name, column in zip(_ACCOUNT_COLUMNS, columns, strict=True)
    }


def needs_tagged_sums(filters: TagFilters, tag_keys: Sequence[str], *, by_day: bool) -> bool:
    """One tag by month is stored for every key, all else for the tag keys of reports."""
    return bool(filters) or len(tag_keys) > 1 or (bool(tag_keys) and by_day)


def build_statement(
    filters: TagFilters, tag_keys: Sequence[str], columns: Sequence[str]
) -> UsageStatement:
    """Sum by the columns, which may be `tag_value` of the first key and `tag_value_2`."""
    values: dict[str, object] = {f"key_{number}": key for number, key in enumerate(tag_keys)}
    if needs_tagged_sums(filters, tag_keys, by_day="day" in columns):
        required = frozenset({*filters, *tag_keys})
        values["required_keys"] = sorted(required)
        for number, (key, allowed) in enumerate(filters.items()):
            values |= {f"filter_{number}": key, f"allowed_{number}": sorted(allowed)}
        stmt = _build_select(tuple(columns), len(tag_keys), len(filters))
        return UsageStatement(stmt, values, required)
    return UsageStatement(_build_select(tuple(columns), len(tag_keys), None), values)


@lru_cache(maxsize=256)
def _build_select(columns: tuple[str, ...], tags: int, filters: int | None) -> Select:
    """`filters` is the number of keys in filters, or None if tagged sums are not needed.

    No row of other accounts is read: the indexes contain vendor, month and account. Each account
    is summed alone, because its rows come from the index in the order of months; sorting the rows
    of all accounts took three times as long.
    """
    if filters is not None:
        rows = _select_by_report_tags(tags, filters).subquery("rows")
    elif tags:
        rows = _select_by_one_tag().subquery("rows")
    else:
        rows = _select_usage(cost_sums, cost_sums).subquery("rows")
    keys = [rows.c.month, rows.c.currency, *(rows.c[name] for name in columns if name != ACCOUNT)]
    sums = sa.select(
        *keys, sa.func.sum(rows.c.cost).label("cost"), sa.func.sum(rows.c.lines).label("lines")
    )
    usage = sums.group_by(*keys).lateral("usage")
    outer = [_viewed.c.customer_id if name == ACCOUNT else usage.c[name] for name in columns]
    by = [_viewed.c.company_id, _viewed.c.vendor, usage.c.month, usage.c.currency]
    # A group whose lines all have the tag has no line without it.
    if ACCOUNT in columns:
        stmt = sa.select(*by, usage.c.cost, *outer).where(usage.c.lines != 0)
    else:
        stmt = sa.select(*by, sa.func.sum(usage.c.cost), *outer).group_by(*by, *outer)
        stmt = stmt.having(sa.func.sum(usage.c.lines) != 0)
    return stmt.select_from(_viewed.join(usage, sa.true()))


def _select_usage(table: sa.Table, *columns: Any) -> Select:
    return (
        sa.select(*columns)
        .where(
            of_given_tenant(table),
            is_any_of(table.c.month, _MONTHS),
            table.c.kind == sa.literal_column("'usage'"),
            table.c.vendor == _viewed.c.vendor,
            table.c.customer_id == _viewed.c.customer_id,
        )
        .correlate(_viewed)
    )


def _select_by_one_tag() -> sa.CompoundSelect[*tuple[Any, ...]]:
    """Lines without the tag are all lines less those that have it."""
    sums, tagged = cost_sums.c, cost_tag_sums.c
    names = ("month", "currency", "service", "marketplace")
    no_tag = sa.cast(sa.null(), sa.Text)
    columns, of_tagged = [sums[name] for name in names], [tagged[name] for name in names]
    of_key = tagged.tag_key == sa.bindparam("key_0")
    with_tag = _select_usage(cost_tag_sums, *of_tagged, tagged.tag_value, tagged.cost, tagged.lines)
    return sa.union_all(
        with_tag.where(of_key),
        _select_usage(cost_sums, *columns, no_tag, sums.cost, sums.lines),
        _select_usage(cost_tag_sums, *of_tagged, no_tag, -tagged.cost, -tagged.lines).where(of_key),
    )


def _select_by_report_tags(tags: int, filters: int) -> Select:
    """Payers without sums by these keys are left out, so that filters never show too much."""
    sums, months = cost_tagged_sums.c, cost_months.c
    with_keys = (
        sa.select(months.payer_id, months.month)
        .where(
            of_given_tenant(cost_months),
            months.vendor == _viewed.c.vendor,
            is_any_of(months.month, _MONTHS),
            months.tag_keys.contains(_REQUIRED_KEYS),
        )
        .correlate(_viewed)
    )
    values = [_read_tag(f"key_{number}").label(TAG_COLUMNS[number]) for number in range(tags)]
    return _select_usage(cost_tagged_sums, cost_tagged_sums, *values).where(
        sa.tuple_(sums.payer_id, sums.month).in_(with_keys),
        *(
            is_any_of(_read_tag(f"filter_{number}"), sa.bindparam(f"allowed_{number}"))
            for number in range(filters)
        ),
    )


def _read_tag(key: str) -> sa.ColumnElement[str]:
    return cost_tagged_sums.c.tags.op("->>", return_type=sa.Text())(
        sa.bindparam(key, type_=sa.Text)
    )


_months, _sums = cost_months.c, cost_sums.c
# the months with usage of the accounts that has no sums by the required keys
LIST_MONTHS_WITHOUT_TAGS = (
    sa.select(_viewed.c.vendor, _months.month, _viewed.c.customer_id, _viewed.c.company_id)
    .distinct()
    .join_from(cost_months, _viewed, _viewed.c.vendor == _months.vendor)
    .where(
        of_given_tenant(cost_months),
        is_any_of(_months.month, _MONTHS),
        sa.not_(_months.tag_keys.contains(_REQUIRED_KEYS)),
        sa.exists().where(
            of_given_tenant(cost_sums),
            _sums.vendor == _months.vendor,
            _sums.month == _months.month,
            _sums.customer_id == _viewed.c.customer_id,
            _sums.payer_id == _months.payer_id,
            _sums.kind == sa.literal_column("'usage'"),
        ),
    )
)
