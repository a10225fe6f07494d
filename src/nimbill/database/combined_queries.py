"""Named queries that run together, where the round trips would take longer than reading the rows.

The statement has one column per query, with its rows as JSON, so that decimals keep their digits.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation import exact_json

Select = sa.Select[*tuple[Any, ...]]


def combine_queries(queries: Mapping[str, Select]) -> Select:
    """Build a statement for `fetch_combined`."""
    return sa.select(*(_collect_rows(name, query) for name, query in queries.items()))


def _collect_rows(name: str, query: Select) -> sa.ColumnElement[str]:
    rows = query.subquery(name)
    collected = sa.select(sa.cast(sa.func.json_agg(rows.table_valued()), sa.Text))
    return collected.scalar_subquery().label(name)


async def fetch_combined(
    db: AsyncConnection, stmt: Select, values: Mapping[str, object]
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of each query; decimals are exact, other types are those of JSON."""
    row = (await db.execute(stmt, dict(values))).one()
    return {
        name: [] if text is None else exact_json.decode_stored(text)
        for name, text in row._mapping.items()
    }
