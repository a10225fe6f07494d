"""Run rows of the proof board and their broken variants: python -m tests.proof [ROW …]"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

import nimbill
from tests.proof.board import BoardLine, format_board, run_row
from tests.proof.broken_variants import NOT_RUN
from tests.proof.row import ProofRow, load_row, load_rows, row_names
from tests.proof.row_environment import QUICK_SEED, ROOT, RowEnvironment
from tests.proof.run_records import (
    choose_fitting,
    count_rows,
    keep_record,
    keep_variants,
    read_records,
    write_page,
)


def main() -> int:
    """Return 0 if every row is green and every variant was caught, else see broken_variants.py."""
    assert Path(nimbill.__file__).is_relative_to(ROOT / "src"), f"{nimbill.__file__} is not ours"
    names = row_names()
    arguments = _parse_arguments(names)
    rows = [load_row(name) for name in arguments.rows or names]
    if arguments.list:
        print("\n".join(_describe(row) for row in rows))
        return 0
    if arguments.page:
        write_page(load_rows(), read_records())
        return 0
    if arguments.minutes is not None:
        rows = choose_fitting(rows, read_records(), arguments.minutes)
        print(f"{len(rows)} rows fit: {' '.join(row.name for row in rows)}", flush=True)
    lines = []
    with (
        tempfile.TemporaryDirectory(prefix="nimbill-proof-") as folder,
        RowEnvironment(Path(folder), arguments.seed) as environment,
    ):
        for row in rows:
            line = run_row(
                row,
                environment,
                size=None if arguments.variants else _size(row, arguments),
                variants=not arguments.no_variants,
                variant_seed=QUICK_SEED,
            )
            lines.append(line)
            print(line.format(), flush=True)
            if _is_full(line, arguments):
                keep_record(line, size=_size(row, arguments), seed=arguments.seed)
                write_page(load_rows(), read_records())
            elif arguments.variants and keep_variants(line):
                write_page(load_rows(), read_records())
    if len(lines) > 1:
        print(f"\n{format_board(lines, arguments.seed)}")
    if any(_is_full(line, arguments) for line in lines):
        counted = count_rows(load_rows(), read_records())
        print(f"{counted} count; docs/proof.md has the last full run of each.")
    return max((line.code for line in lines), default=NOT_RUN)


def _is_full(line: BoardLine, arguments: argparse.Namespace) -> bool:
    """Whether the run is kept as the last full one of its row."""
    complete = not (arguments.variants or arguments.no_variants or line.error)
    return complete and not arguments.quick and line.row.is_full(_size(line.row, arguments))


def _parse_arguments(rows: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("tests.proof", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", type=str.upper, help="default: all rows")
    parser.add_argument("--list", action="store_true", help="list the rows and their variants")
    parser.add_argument("--page", action="store_true", help="write docs/proof.md and the README")
    parser.add_argument("--seed", type=int, help="a printed seed, to repeat a run")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the size of `make test`")
    size.add_argument("--full", action="store_true", help="the size of `make prove` (default)")
    size.add_argument("--size", type=int, help="another size")
    parser.add_argument("--minutes", type=int, help="only rows that fit, by their last full run")
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--variants", action="store_true", help="only the broken variants")
    parts.add_argument("--no-variants", action="store_true", help="only the rows")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.rows if name not in rows]
    if unknown:
        parser.error(f"unknown row {', '.join(unknown)}; the rows are {', '.join(rows)}")
    if arguments.seed is None:
        arguments.seed = QUICK_SEED if arguments.quick else secrets.randbelow(10**9)
    return arguments


def _size(row: ProofRow, arguments: argparse.Namespace) -> int:
    return arguments.size or (row.quick if arguments.quick else row.full)


def _describe(row: ProofRow) -> str:
    variants = "".join(
        f"\n      variant {variant.name}: {variant.fault}" for variant in row.variants
    )
    return f"{row.name:3} {row.claim}\n    {row.target}{variants}"


if __name__ == "__main__":
    sys.exit(main())
