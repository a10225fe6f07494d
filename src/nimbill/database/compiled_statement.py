"""Statements that are compiled once and then executed by the driver alone.

SQLAlchemy needs about a millisecond to build and to look up a statement, more than many pages need
for their rows.
"""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import fetch_rows


def text_parameter(name: str) -> sa.BindParameter[str]:
    return sa.bindparam(name, type_=sa.Text)


def is_any_of_parameter(column: sa.ColumnElement[str], name: str) -> sa.ColumnElement[bool]:
    """Like `is_any_of`, with values that are given at execution."""
    return column == sa.func.any(sa.bindparam(name, type_=ARRAY(sa.Text)))


def _build_row_type(names: Sequence[str]) -> Any:
    return cast(Any, namedtuple)("Row", names)


class CompiledStatement:
    """A query whose parameters are named; its columns must have different names."""

    def __init__(self, stmt: sa.Select[*tuple[Any, ...]]) -> None:
        dialect = PGDialect_asyncpg()  # type: ignore[no-untyped-call]
        compiled = stmt.compile(dialect=dialect)
        self._text = str(compiled)
        self._names = tuple(compiled.positiontup or ())
        self._constants: Mapping[str, Any] = compiled.params
        self._build_row = _build_row_type(stmt.selected_columns.keys())

    async def fetch(self, db: AsyncConnection, **values: object) -> Sequence[Any]:
        """Return the rows as named tuples."""
        parameters = {**self._constants, **values}
        rows = await fetch_rows(db, self._text, *(parameters[name] for name in self._names))
        return [self._build_row(*row) for row in rows]
