"""Formats the results of a run as Markdown tables and as JSON."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bench.rounds import ComparisonLine, Contender, Suite, format_spread
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


def describe_environment() -> dict[str, str]:
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


def format_table(
    suite: Suite, contenders: Sequence[Contender], lines: Sequence[ComparisonLine], *, rounds: int
) -> str:
    """A Markdown table in the form that docs/benchmarks.md uses."""
    length = f" of {suite.slice_seconds} s" if suite.slice_seconds else ""
    rows = [
        f"{suite.name}: {suite.description}; median of {rounds} rounds{length} (middle half)",
        "",
        f"| Case | Contender | {suite.unit} | {suite.baseline} ÷ it | target |",
        "|---|---|---|---|---|",
    ]
    for line in lines:
        target = suite.targets.get(line.contender)
        ratio = "" if line.contender == suite.baseline else format_spread(line.ratio, ".2f")
        result = (
            ""
            if target is None
            else f"{target} {'met' if line.ratio.median >= target else 'MISSED'}"
        )
        rate = format_spread(line.rate, ".0f")
        rows.append(f"| {line.case} | {line.contender} | {rate} | {ratio} | {result} |")
    rows += ["", *(f"- {contender.name}: {contender.description}" for contender in contenders)]
    rows += ["", *suite.extra_rows()] if suite.extra_rows else []
    return "\n".join(rows)


def build_data(suite: Suite, lines: Sequence[ComparisonLine], *, rounds: int) -> Mapping[str, Any]:
    return {
        "suite": suite.name,
        "unit": suite.unit,
        "rounds": rounds,
        "slice_seconds": suite.slice_seconds,
        "targets": dict(suite.targets),
        "extra": list(suite.extra_rows()) if suite.extra_rows else [],
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
