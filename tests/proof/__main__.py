"""Run rows of the proof board, each with its broken twins: python -m tests.proof [ROW …]"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

import nimbill
from tests.proof.board import run_row, show_board
from tests.proof.broken_variants import twins_of
from tests.proof.row import Row, row_named, row_names
from tests.proof.stage import QUICK_SEED, ROOT, Stage


def main() -> int:
    """0 when every row is green and every twin was caught; otherwise see twins.py."""
    assert Path(nimbill.__file__).is_relative_to(ROOT / "src"), f"{nimbill.__file__} is another one"
    names = row_names()
    asked = _arguments(names)
    chosen = [row_named(name) for name in asked.rows or names]
    if asked.list:
        print("\n".join(_listed(row) for row in chosen))
        return 0
    lines = []
    with (
        tempfile.TemporaryDirectory(prefix="nimbill-proof-") as folder,
        Stage(Path(folder), asked.seed) as stage,
    ):
        for row in chosen:
            size = None if asked.twins else _size(row, asked)
            line = run_row(row, stage, size=size, twins=not asked.no_twins, twin_seed=QUICK_SEED)
            lines.append(line)
            print(line.shown(), flush=True)
    if len(lines) > 1:
        print(f"\n{show_board(lines, asked.seed)}")
    return max(line.code for line in lines)


def _arguments(rows: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("tests.proof", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", type=str.upper, help="none: all rows")
    parser.add_argument("--list", action="store_true", help="the rows and their twins, no more")
    parser.add_argument("--seed", type=int, help="a printed one, to run the same again")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the size of `make test`")
    size.add_argument("--full", action="store_true", help="the size of `make prove`: the default")
    size.add_argument("--size", type=int, help="any other size")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--twins", action="store_true", help="the broken twins alone")
    which.add_argument("--no-twins", action="store_true", help="the rows alone")
    asked = parser.parse_args()
    unknown = [name for name in asked.rows if name not in rows]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(rows)}")
    if asked.seed is None:
        asked.seed = QUICK_SEED if asked.quick else secrets.randbelow(10**9)
    return asked


def _size(row: Row, asked: argparse.Namespace) -> int:
    return asked.size or (row.quick if asked.quick else row.full)


def _listed(row: Row) -> str:
    twins = "".join(f"\n      twin {twin.what}: {twin.story}" for twin in twins_of(row.name))
    return f"{row.name:3} {row.claim}\n    {row.target}{twins}"


if __name__ == "__main__":
    sys.exit(main())
