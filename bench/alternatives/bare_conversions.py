"""Conversion to Parquet by one library alone: the same columns, without checks."""

from collections.abc import Sequence
from pathlib import Path

COST_DIGITS, COST_SCALE = 38, 22
ZSTD_LEVEL = 1  # as in Nimbill


def convert_with_polars(source: Path, columns: Sequence[str], cost: str, folder: Path) -> None:
    import polars as pl

    if source.suffix == ".parquet":
        lines = pl.scan_parquet(source)
    else:
        lines = pl.scan_csv(source, infer_schema=False)
    exact = pl.col(cost).cast(pl.Decimal(COST_DIGITS, COST_SCALE))
    selected = lines.select(columns).with_columns(exact)
    selected.sink_parquet(
        folder / "lines.parquet", compression="zstd", compression_level=ZSTD_LEVEL
    )


def convert_with_duckdb(source: Path, columns: Sequence[str], cost: str, folder: Path) -> None:
    import duckdb

    exact = f"CAST({_quote(cost)} AS DECIMAL({COST_DIGITS}, {COST_SCALE})) AS {_quote(cost)}"
    selected = ", ".join(exact if column == cost else _quote(column) for column in columns)
    file = f"read_parquet('{source}')"
    if source.suffix != ".parquet":
        file = f"read_csv('{source}', header = true, all_varchar = true)"
    duckdb.execute(
        f"COPY (SELECT {selected} FROM {file}) TO '{folder / 'lines.parquet'}' "
        f"(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {ZSTD_LEVEL})"
    )


def convert_with_pandas(source: Path, columns: Sequence[str], cost: str, folder: Path) -> None:
    """Like a simple script: the whole file at once, costs without conversion."""
    import pandas as pd  # type: ignore[import-untyped]

    if source.suffix == ".parquet":
        lines = pd.read_parquet(source, columns=list(columns))
    else:
        lines = pd.read_csv(source, usecols=list(columns), dtype=str)
    lines.to_parquet(folder / "lines.parquet", compression="zstd", compression_level=ZSTD_LEVEL)


def sum_with_duckdb(files: Sequence[Path]) -> int:
    """The query of `monthly_sums` in SQL."""
    import duckdb

    names = ", ".join(f"'{file}'" for file in files)
    duckdb.execute("SET TimeZone = 'UTC'")
    result = duckdb.sql(
        "SELECT payer_id, customer_id, line_type, kind, service, marketplace, "
        "usage_start::DATE AS day, currency, sum(cost) AS cost, count(*) AS lines "
        f"FROM read_parquet([{names}]) GROUP BY ALL"
    )
    assert result is not None
    return len(result.to_arrow_table())


def _quote(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
