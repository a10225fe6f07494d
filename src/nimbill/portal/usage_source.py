"""Statements that sum the usage of accounts: by day, by one tag, or by the tag keys of reports."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

ACCOUNT = "customer_id"
TAG_COLUMNS = ("tag_value", "tag_value_2")

# key to the values of which a cost must have one, as in the filters of a user
TagFilters = Mapping[str, Collection[str]]

# Parameters: organisation, months, then vendor, account and company of the accounts, then those of
# the source. No row of other accounts is read: the indexes contain vendor, month and account.
# Each account is summed alone, because its rows come from the index in the order of months; sorting
# the rows of all accounts took three times as long.
# A group whose lines all have the tag has no line without it.
_SUM_BY_ACCOUNT = """
SELECT viewed.company_id, viewed.vendor, usage.month, usage.currency, usage.cost{outer}
FROM unnest($3::text[], $4::text[], $5::text[]) AS viewed (vendor, customer_id, company_id)
CROSS JOIN LATERAL (
    SELECT month, currency{inner}, sum(cost) AS cost, sum(lines) AS lines
    FROM ({source}) AS rows GROUP BY month{inner}, currency) AS usage
WHERE usage.lines <> 0
"""
_SUM_ALL_ACCOUNTS = """
SELECT viewed.company_id, viewed.vendor, usage.month, usage.currency, sum(usage.cost){outer}
FROM unnest($3::text[], $4::text[], $5::text[]) AS viewed (vendor, customer_id, company_id)
CROSS JOIN LATERAL (
    SELECT month, currency{inner}, sum(cost) AS cost, sum(lines) AS lines
    FROM ({source}) AS rows GROUP BY month{inner}, currency) AS usage
GROUP BY usage.month{outer}, viewed.company_id, viewed.vendor, usage.currency
HAVING sum(usage.lines) <> 0
"""
_OF_ACCOUNTS = """
FROM {table} s WHERE s.organisation_id = $1 AND s.month = ANY($2) AND s.kind = 'usage'
    AND s.vendor = viewed.vendor AND s.customer_id = viewed.customer_id
"""
_ALL_USAGE = f"SELECT s.* {_OF_ACCOUNTS.format(table='cost_sums')}"
# Lines without the tag are all lines less those that have it.
_COLUMNS = "s.month, s.currency, s.service, s.marketplace"
_OF_KEY = f"{_OF_ACCOUNTS.format(table='cost_tag_sums')} AND s.tag_key = $6"
_BY_ONE_TAG = f"""
SELECT {_COLUMNS}, s.tag_value, s.cost, s.lines {_OF_KEY}
UNION ALL
SELECT {_COLUMNS}, NULL, s.cost, s.lines {_OF_ACCOUNTS.format(table="cost_sums")}
UNION ALL
SELECT {_COLUMNS}, NULL, -s.cost, -s.lines {_OF_KEY}
"""
# Payers without sums by these keys are left out, so that filters never show too much.
_BY_REPORT_TAGS = f"""
SELECT s.*{{values}} {_OF_ACCOUNTS.format(table="cost_tagged_sums")}
    AND (s.payer_id, s.month) IN (SELECT m.payer_id, m.month FROM cost_months m
        WHERE m.organisation_id = $1 AND m.vendor = viewed.vendor AND m.month = ANY($2)
            AND m.tag_keys @> $6::text[]){{conditions}}
"""  # noqa: S608  # contains no values


class UsageStatement(NamedTuple):
    """`values` are the parameters of the source; `tag_keys` those that a month must have."""

    text: str
    values: Sequence[object]
    tag_keys: frozenset[str] = frozenset()


def needs_tagged_sums(filters: TagFilters, tag_keys: Sequence[str], *, by_day: bool) -> bool:
    """One tag by month is stored for every key, all else for the tag keys of reports."""
    return bool(filters) or len(tag_keys) > 1 or (bool(tag_keys) and by_day)


def build_statement(
    filters: TagFilters, tag_keys: Sequence[str], columns: Sequence[str]
) -> UsageStatement:
    """Sum by the columns, which may be `tag_value` of the first key and `tag_value_2`."""
    if needs_tagged_sums(filters, tag_keys, by_day="day" in columns):
        required = frozenset({*filters, *tag_keys})
        values = [sorted(required), *tag_keys]
        for key, allowed in filters.items():
            values += [key, sorted(allowed)]
        text = _build_text(tuple(columns), len(tag_keys), len(filters))
        return UsageStatement(text, values, required)
    if tag_keys:
        return UsageStatement(_build_text(tuple(columns), 1, None), tag_keys)
    return UsageStatement(_build_text(tuple(columns), 0, None), ())


@lru_cache(maxsize=256)
def _build_text(columns: tuple[str, ...], tags: int, filters: int | None) -> str:
    """`filters` is the number of keys in filters, or None if tagged sums are not needed."""
    source = _BY_ONE_TAG if tags else _ALL_USAGE
    if filters is not None:
        first = 7 + tags  # $6 are the required keys
        source = _BY_REPORT_TAGS.format(
            values="".join(
                f", s.tags ->> ${7 + number} AS {TAG_COLUMNS[number]}" for number in range(tags)
            ),
            conditions="".join(
                f" AND s.tags ->> ${number} = ANY(${number + 1}::text[])"
                for number in range(first, first + 2 * filters, 2)
            ),
        )
    inner = [column for column in columns if column != ACCOUNT]
    owner = {ACCOUNT: "viewed"}
    template = _SUM_BY_ACCOUNT if ACCOUNT in columns else _SUM_ALL_ACCOUNTS
    return template.format(
        outer="".join(f", {owner.get(column, 'usage')}.{column}" for column in columns),
        inner="".join(f", {column}" for column in inner),
        source=source,
    )
