"""What a run found, as tables for people and as JSON for machines."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bench.rounds import Contender, Line, Spread, Suite
from nimbill.database.embedded_postgres import bin_folder

PACKAGES = (
    "nimbill",
    "litestar",
    "granian",
    "msgspec",
    "sqlalchemy",
    "asyncpg",
    "fastapi",
    "pydantic",
    "pyjwt",
    "uvicorn",
    "uvloop",
    "pyarrow",
    "duckdb",
    "polars",
    "pandas",
    "typst",
)


def environment() -> dict[str, str]:
    postgres = subprocess.run(
        [bin_folder() / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    return {
        "cores": str(os.cpu_count()),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "postgresql": postgres.stdout.split()[-1],
        **{name: version(name) for name in PACKAGES},
    }


def as_table(
    suite: Suite, contenders: Sequence[Contender], lines: Sequence[Line], *, rounds: int
) -> str:
    """A Markdown table, so that it can be put into docs/benchmarks.md as it stands."""
    length = f" of {suite.slice_seconds} s" if suite.slice_seconds else ""
    how = f"median of {rounds} rounds{length} (middle half of them)"
    rows = [
        f"{suite.name}: {suite.what}; {how}",
        "",
        f"| Case | Contender | {suite.unit} | nimbill ÷ it | aim |",
        "|---|---|---|---|---|",
    ]
    for line in lines:
        aim = suite.aims.get(line.contender)
        ratio = "" if line.contender == suite.ours else _shown(line.ratio, ".2f")
        wanted = "" if aim is None else f"{aim} {'met' if line.ratio.middle >= aim else 'MISSED'}"
        rows.append(
            f"| {line.case} | {line.contender} | {_shown(line.rate, '.0f')} | {ratio} | {wanted} |"
        )
    rows += ["", *(f"- {contender.name}: {contender.what}" for contender in contenders)]
    rows += ["", *suite.more()] if suite.more else []
    return "\n".join(rows)


def _shown(figure: Spread, form: str) -> str:
    return f"{figure.middle:{form}} ({figure.low:{form}}–{figure.high:{form}})"


def as_data(suite: Suite, lines: Sequence[Line], *, rounds: int) -> Mapping[str, Any]:
    return {
        "suite": suite.name,
        "unit": suite.unit,
        "rounds": rounds,
        "slice_seconds": suite.slice_seconds,
        "aims": dict(suite.aims),
        "more": list(suite.more()) if suite.more else [],
        "lines": [
            {
                "case": line.case,
                "contender": line.contender,
                "rate": line.rate._asdict(),
                "ratio": line.ratio._asdict(),
            }
            for line in lines
        ],
    }
