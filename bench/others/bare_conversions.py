"""The same columns of the same file into Parquet by a program alone: no rules, no lines of ours."""

from collections.abc import Sequence
from pathlib import Path

COST_DIGITS, COST_SCALE = 38, 22
LEVEL = 1  # of zstd, as ours


def by_polars(source: Path, columns: Sequence[str], cost: str, into: Path) -> None:
    import polars as pl

    if source.suffix == ".parquet":
        lines = pl.scan_parquet(source)
    else:
        lines = pl.scan_csv(source, infer_schema=False)
    exact = pl.col(cost).cast(pl.Decimal(COST_DIGITS, COST_SCALE))
    chosen = lines.select(columns).with_columns(exact)
    chosen.sink_parquet(into / "lines.parquet", compression="zstd", compression_level=LEVEL)


def by_duckdb(source: Path, columns: Sequence[str], cost: str, into: Path) -> None:
    import duckdb

    exact = f"CAST({_name(cost)} AS DECIMAL({COST_DIGITS}, {COST_SCALE})) AS {_name(cost)}"
    wanted = ", ".join(exact if column == cost else _name(column) for column in columns)
    file = f"read_parquet('{source}')"
    if source.suffix != ".parquet":
        file = f"read_csv('{source}', header = true, all_varchar = true)"
    duckdb.execute(
        f"COPY (SELECT {wanted} FROM {file}) TO '{into / 'lines.parquet'}' "
        f"(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {LEVEL})"
    )


def by_pandas(source: Path, columns: Sequence[str], cost: str, into: Path) -> None:
    """As a script would: all of it at once, costs as they are written."""
    import pandas as pd  # type: ignore[import-untyped]

    if source.suffix == ".parquet":
        lines = pd.read_parquet(source, columns=list(columns))
    else:
        lines = pd.read_csv(source, usecols=list(columns), dtype=str)
    lines.to_parquet(into / "lines.parquet", compression="zstd", compression_level=LEVEL)


def sums_by_duckdb(files: Sequence[Path]) -> int:
    """What `monthly_sums` asks, written by hand."""
    import duckdb

    names = ", ".join(f"'{file}'" for file in files)
    duckdb.execute("SET TimeZone = 'UTC'")
    asked = duckdb.sql(
        "SELECT payer_id, customer_id, line_type, kind, service, marketplace, "
        "usage_start::DATE AS day, currency, sum(cost) AS cost, count(*) AS lines "
        f"FROM read_parquet([{names}]) GROUP BY ALL"
    )
    assert asked is not None
    return len(asked.to_arrow_table())


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
