"""Pages of long lists: the database searches, sorts, cuts and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, of_tenant

# See docs/choices.md, list-pages.

DESCENDING = "-"  # in front of the name of a column


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a caller asks of a list. Without any of it the list is complete, in its own order."""

    limit: int | None = None
    offset: int = 0
    search: str | None = None
    sort: str | None = None  # name of a column, with `-` in front for descending order
    is_counted: bool = True  # False: the total is that of this page and those before it

    @property
    def sort_column(self) -> str | None:
        return None if self.sort is None else self.sort.removeprefix(DESCENDING)

    @property
    def is_descending(self) -> bool:
        return self.sort is not None and self.sort.startswith(DESCENDING)

    @property
    def page(self) -> slice:
        return slice(self.offset, None if self.limit is None else self.offset + self.limit)


COMPLETE = ListQuery()


class Page(NamedTuple):
    """The rows of one page, and how many rows all pages have together."""

    rows: Sequence[Row]
    total: int


@dataclass(frozen=True, slots=True)
class ListColumns:
    """The columns of a list. `order` is the order without `sort`, and decides between equals."""

    table: sa.FromClause
    order: Sequence[sa.ColumnElement[Any]]
    searched: Sequence[sa.ColumnElement[Any]]
    sortable: Mapping[str, sa.ColumnElement[Any]]

    def sort(self, query: ListQuery) -> list[sa.ColumnElement[Any]]:
        if query.sort_column is None:
            return list(self.order)
        return [order_by(self.sortable[query.sort_column], query.sort or ""), *self.order]


def order_by(column: sa.ColumnElement[Any], sort: str) -> sa.ColumnElement[Any]:
    """Order by the column, descending if `sort` begins with `-`; absent values come last."""
    return (column.desc() if sort.startswith(DESCENDING) else column.asc()).nulls_last()


def contains_text(columns: Sequence[sa.ColumnElement[Any]], text: Any) -> sa.ColumnElement[bool]:
    """Whether one of the columns contains the text, in any letter case.

    strpos, unlike LIKE, has no special characters; the text may be a bound parameter.
    """
    return sa.or_(
        *(sa.func.strpos(sa.func.lower(column), sa.func.lower(text)) > 0 for column in columns)
    )


async def fetch_page(
    db: AsyncConnection,
    scope: TenantScope,
    stmt: sa.Select[*tuple[Any, ...]],
    columns: ListColumns,
    query: ListQuery,
) -> Page:
    """Execute the statement for one page; count all rows only if the page does not show it."""
    stmt = stmt.where(of_tenant(columns.table, scope))
    if query.search is not None:
        stmt = stmt.where(contains_text(columns.searched, query.search))
    paged = stmt.order_by(*columns.sort(query)).limit(query.limit).offset(query.offset)
    rows = (await db.execute(paged)).all()
    if is_last_page(query, len(rows)) or not query.is_counted:
        return Page(rows, query.offset + len(rows))
    counted = sa.select(sa.func.count()).select_from(stmt.subquery())
    return Page(rows, int((await db.execute(counted)).scalar_one()))


def is_last_page(query: ListQuery, shown: int) -> bool:
    """Whether nothing follows, so that offset and page give the total."""
    is_full = query.limit is not None and shown == query.limit
    return not is_full and (shown > 0 or query.offset == 0)
