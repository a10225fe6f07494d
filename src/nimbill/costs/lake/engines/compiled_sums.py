"""The sums in DuckDB's own words, kept beside this file: what writes them takes 1.6 s to load.

They are written by Ibis from `sums.py`, where they are defined and nowhere else; a test holds the
page against them. `python -m nimbill.costs.lake.engines.compiled_sums` writes it anew.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nimbill.costs.lake import sums

if TYPE_CHECKING:
    from nimbill.costs.lake.engines.engine import SumQuery

PAGE = Path(__file__).with_name("compiled_sums.sql")
WRITTEN = ("monthly_sums", "tag_sums", "entry_lines", "reservation_lines", "payer_lines")
HEADING = "-- "
IN_TWO_PARTS = ", in two parts"


def sql_of(question: SumQuery, *, wide: bool) -> str:
    """As it stands on the page, or written now where it is a question of somebody else's."""
    name = getattr(question, "__name__", "")
    if name in WRITTEN and question is getattr(sums, name):
        return _page()[name + IN_TWO_PARTS * wide]
    return _written(question, wide=wide)


def page() -> str:
    """All of them, each under its name."""
    return "\n".join(
        f"{HEADING}{name}{IN_TWO_PARTS * wide}\n{_written(getattr(sums, name), wide=wide)}\n"
        for name in WRITTEN
        for wide in (False, True)
    )


@cache
def _page() -> dict[str, str]:
    parts = ("\n" + PAGE.read_text()).split("\n" + HEADING)[1:]
    return {name: sql for name, _, sql in (part.partition("\n") for part in parts)}


def _written(question: SumQuery, *, wide: bool) -> str:
    import ibis

    from nimbill.costs.lake.decimal_overflow import lines_to_ask

    asked = question(lines_to_ask(wide=wide))
    return str(ibis.to_sql(asked, dialect="duckdb", pretty=False))


if __name__ == "__main__":
    PAGE.write_text(page())
