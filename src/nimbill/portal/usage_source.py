"""Which stored sums answer a report: by day, by one tag, or by the tag keys of reports."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from nimbill.costs.lake.records import cost_months, cost_sums, cost_tag_sums, cost_tagged_sums
from nimbill.costs.lake.tagged_sum_records import has_keys
from nimbill.database.tenant_scope import is_any_of
from nimbill.foundation.basis import chosen

basis = chosen("portal-tags")

TAG_COLUMNS = ("tag_value", "tag_value_2")

_COLUMNS = (
    "organisation_id",
    "vendor",
    "month",
    "customer_id",
    "kind",
    "service",
    "marketplace",
    "currency",
)

# key to the values of which a cost must have one, as in the filters of a user
TagFilters = Mapping[str, Collection[str]]


class UsageSource(NamedTuple):
    """A table of sums; `tag_keys` are the keys that a month must have to be in it."""

    table: sa.FromClause
    tag_keys: frozenset[str] = frozenset()


def needs_tagged_sums(filters: TagFilters, tag_keys: Sequence[str], *, by_day: bool) -> bool:
    """One tag by month is stored for every key, all else for the tag keys of reports."""
    return bool(filters) or len(tag_keys) > 1 or (bool(tag_keys) and by_day)


def choose_source(
    filters: TagFilters, tag_keys: Sequence[str], viewed: sa.FromClause, *, by_day: bool
) -> UsageSource:
    """The first key has the column `tag_value`, the second `tag_value_2`.

    `viewed` has vendor and customer_id of the accounts, and is joined with the source.
    """
    if needs_tagged_sums(filters, tag_keys, by_day=by_day):
        table = _select_tagged(filters, tag_keys)
        return UsageSource(table, frozenset({*filters, *tag_keys}))
    if tag_keys:
        return UsageSource(_select_one_tag(tag_keys[0], viewed))
    return UsageSource(cost_sums)


def _select_tagged(filters: TagFilters, tag_keys: Sequence[str]) -> sa.FromClause:
    """Payers without sums by these keys are left out, so that filters never show too much."""
    tagged, months = cost_tagged_sums.c, cost_months.c
    values = [
        tagged.tags[key].astext.label(name)
        for name, key in zip(TAG_COLUMNS, tag_keys, strict=False)
    ]
    return (
        sa.select(*_list_columns(cost_tagged_sums), tagged.day, *values, tagged.cost, tagged.lines)
        .join_from(
            cost_tagged_sums,
            cost_months,
            (months.organisation_id == tagged.organisation_id)
            & (months.vendor == tagged.vendor)
            & (months.payer_id == tagged.payer_id)
            & (months.month == tagged.month),
        )
        .where(
            has_keys({*filters, *tag_keys}),
            *(is_any_of(tagged.tags[key].astext, allowed) for key, allowed in filters.items()),
        )
        .subquery("tagged_usage")
    )


def _select_one_tag(key: str, viewed: sa.FromClause) -> sa.FromClause:
    """Lines without the tag are all lines less those that have it.

    Each part looks for the accounts itself. Otherwise the database would read the whole month of
    the organisation: it does not pass the accounts of a join on to the parts.
    """
    tags, none = cost_tag_sums.c, sa.null().cast(sa.Text).label("tag_value")
    columns = _list_columns(cost_tag_sums)
    tagged = sa.select(*columns, tags.tag_value, tags.cost, tags.lines)
    subtracted = sa.select(*columns, none, -tags.cost, -tags.lines)
    everything = sa.select(*_list_columns(cost_sums), none, cost_sums.c.cost, cost_sums.c.lines)
    of_key = [tags.tag_key == key, *_match(cost_tag_sums, viewed)]
    parts = [
        tagged.where(*of_key),
        everything.where(*_match(cost_sums, viewed)),
        subtracted.where(*of_key),
    ]
    return sa.union_all(*(part.correlate(viewed) for part in parts)).lateral("usage_by_tag")


def _match(table: sa.Table, viewed: sa.FromClause) -> list[sa.ColumnElement[bool]]:
    return [table.c.vendor == viewed.c.vendor, table.c.customer_id == viewed.c.customer_id]


def _list_columns(table: sa.Table) -> list[sa.ColumnElement[Any]]:
    return [table.c[name] for name in _COLUMNS]
