"""The queries of `sums.py` as SQL for DuckDB, compiled in advance because Ibis loads in 1.6 s.

A test checks that the file is up to date.
`python -m nimbill.costs.lake.engines.compiled_sums` writes it again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nimbill.costs.lake import sums

if TYPE_CHECKING:
    from nimbill.costs.lake.engines.engine import SumQuery

SQL_FILE = Path(__file__).with_name("compiled_sums.sql")
COMPILED_QUERIES = (
    "monthly_sums",
    "tag_sums",
    "product_names",
    "entry_lines",
    "reservation_lines",
    "commitment_usage",
    "on_demand_usage",
    "line_totals",
)
TAGGED_SUMS = "tagged_sums of {} keys"
TAG_KEYS_MAX = 5
TAG_KEY = "tag key {}"  # stands for a key until a month is summed
HEADING = "-- "
SPLIT_COST = ", split cost"


def load_sql(query: SumQuery, *, split: bool) -> str:
    """Return the compiled SQL; queries from elsewhere are compiled now."""
    if isinstance(query, sums.TaggedSums):
        sql = _load_file()[TAGGED_SUMS.format(len(query.keys)) + SPLIT_COST * split]
        return _insert_keys(sql, query.keys)
    name = getattr(query, "__name__", "")
    if name in COMPILED_QUERIES and query is getattr(sums, name):
        return _load_file()[name + SPLIT_COST * split]
    return _compile(query, split=split)


def _insert_keys(sql: str, keys: Sequence[str]) -> str:
    """A key becomes a text in SQL, in which only the apostrophe has a meaning, and is doubled.

    All keys are inserted in one pass, so that a key that looks like a mark is not replaced.
    """
    texts = {f"'{TAG_KEY.format(n)}'": key.replace("'", "''") for n, key in enumerate(keys, 1)}
    marks = "|".join(map(re.escape, texts))
    return re.sub(marks, lambda match: f"'{texts[match.group()]}'", sql)


def compile_all() -> str:
    """Return the contents of the SQL file: each query under a heading with its name."""
    queries: dict[str, SumQuery] = {name: getattr(sums, name) for name in COMPILED_QUERIES}
    for count in range(1, TAG_KEYS_MAX + 1):
        keys = tuple(TAG_KEY.format(number) for number in range(1, count + 1))
        queries[TAGGED_SUMS.format(count)] = sums.TaggedSums(keys)
    return "\n".join(
        f"{HEADING}{name}{SPLIT_COST * split}\n{_compile(query, split=split)}\n"
        for name, query in queries.items()
        for split in (False, True)
    )


@cache
def _load_file() -> dict[str, str]:
    sections = ("\n" + SQL_FILE.read_text()).split("\n" + HEADING)[1:]
    return {name: sql for name, _, sql in (section.partition("\n") for section in sections)}


def _compile(query: SumQuery, *, split: bool) -> str:
    import ibis

    from nimbill.costs.lake.decimal_overflow import build_lines_table

    expression = query(build_lines_table(split=split))
    return str(ibis.to_sql(expression, dialect="duckdb", pretty=False))


if __name__ == "__main__":
    SQL_FILE.write_text(compile_all())
