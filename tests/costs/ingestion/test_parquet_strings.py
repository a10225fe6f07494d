"""Text columns of Parquet parts are read as dictionaries without nulls and duplicates."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.ingestion.parts import Limits, Part
from nimbill.costs.ingestion.raw_lines import RawLines, split_into_parse_tasks
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files

LINES = 300
INVOICE, START = "bill_invoice_id", "line_item_usage_start_date"


def read_with(folder: Path, column: str, values: pa.Array) -> RawLines:
    """Write a month, replace the values of one column, and parse it."""
    month = SyntheticMonth(lines=LINES)
    path = write_files(month, Dialect.aws_cur_snake, folder, file_format="parquet").parts[0]
    table = pq.read_table(path)
    pq.write_table(table.set_column(table.column_names.index(column), column, values), path)
    (parse,) = split_into_parse_tasks(
        Part(path.name, path, "parquet", path.stat().st_size, ""), Limits()
    )
    return parse()


def test_empty_texts_become_null(tmp_path: Path) -> None:
    texts = ["", "NULL", "\\N", None, "117", "118"] * (LINES // 6)

    column = read_with(tmp_path, INVOICE, pa.array(texts, pa.string())).fields["invoice_id"]

    assert column.to_pylist() == [None, None, None, None, "117", "118"] * (LINES // 6)
    assert sorted(column.dictionary.to_pylist()) == ["117", "118"]


def test_times_within_one_second_become_one_value(tmp_path: Path) -> None:
    """A Parquet file with a duplicate in its dictionary would have wrong values."""
    second = datetime(2026, 9, 7, 22, tzinfo=UTC)
    times = [second + timedelta(milliseconds=n % 3, hours=n // 150) for n in range(LINES)]

    column = read_with(tmp_path, START, pa.array(times, pa.timestamp("us"))).fields["usage_start"]

    assert len(column.dictionary) == len(set(column.dictionary.to_pylist())) == 2
    assert column.to_pylist()[0].startswith("2026-09-07 22:00:00")
    assert column.to_pylist()[-1].startswith("2026-09-07 23:00:00")


def test_texts_are_read_as_a_dictionary(tmp_path: Path) -> None:
    texts = [f"invoice {n % 7}" for n in range(LINES)]

    column = read_with(tmp_path, INVOICE, pa.array(texts, pa.string())).fields["invoice_id"]

    assert column.to_pylist() == texts
    assert column.type == pa.dictionary(pa.int32(), pa.string())
