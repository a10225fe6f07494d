"""Long values are refused before they are repeated in memory, in every column and format."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.parts import KIB, FileType, Limits, Part
from nimbill.costs.ingestion.raw_lines import RawLines, split_into_parse_tasks
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from tests.imports.aws_reports import build_report, report_line

LINES = 300
LONG = "x" * (64 * KIB + 1)
TAGS = pa.map_(pa.string(), pa.string())


def parse(path: Path, limits: Limits | None = None) -> list[RawLines]:
    file_type: FileType = "parquet" if path.suffix == ".parquet" else "csv"
    digest = sha256(path.read_bytes()).hexdigest()
    part = Part(path.name, path, file_type, path.stat().st_size, digest)
    return [task() for task in split_into_parse_tasks(part, limits or Limits())]


def write_parquet(folder: Path, column: str, values: pa.Array) -> Path:
    """Write a month in which one column has these values."""
    dialect = Dialect.aws_cur2 if column == "resource_tags" else Dialect.aws_cur_snake
    month = SyntheticMonth(lines=LINES)
    path = write_files(month, dialect, folder, file_format="parquet").parts[0]
    table = pq.read_table(path)
    position = table.column_names.index(column)
    pq.write_table(table.set_column(position, column, values), path, compression="zstd")
    return path


@pytest.mark.parametrize(
    ("column", "value", "type_"),
    [
        ("line_item_product_code", LONG, pa.string()),
        ("line_item_product_code", LONG, pa.large_string()),
        ("line_item_unblended_cost", LONG, pa.string()),
        ("resource_tags", [("user_team", LONG)], TAGS),
        ("resource_tags", [(LONG, "blue")], TAGS),
    ],
)
def test_a_long_value_is_refused(
    tmp_path: Path, column: str, value: object, type_: pa.DataType
) -> None:
    path = write_parquet(tmp_path, column, pa.array([value] * LINES, type_))
    assert path.stat().st_size < 200_000

    with pytest.raises(CostFileError) as refused:
        parse(path)

    assert (refused.value.rule, refused.value.column) == ("value_too_long", column)
    assert str(64 * KIB) in refused.value.detail


def test_repeated_texts_are_never_repeated_in_memory(tmp_path: Path) -> None:
    tags = pa.array([[("user_team", "blue")]] * LINES, TAGS)

    (lines,) = parse(write_parquet(tmp_path, "resource_tags", tags))

    tag_values = lines.fields["tags"].items
    assert pa.types.is_dictionary(tag_values.type)
    assert tag_values.dictionary.to_pylist() == ["blue"]


def test_the_line_of_a_long_value_is_reported(tmp_path: Path) -> None:
    values = pa.array(["AmazonS3"] * 7 + [LONG] + ["AmazonS3"] * (LINES - 8), pa.string())

    with pytest.raises(CostFileError) as refused:
        parse(write_parquet(tmp_path, "line_item_product_code", values))

    assert refused.value.line == 8


def test_many_rather_long_values_are_refused(tmp_path: Path) -> None:
    """Each value is short enough, but a batch of them would take gigabytes."""
    tags = pa.array([[("user_team", "x" * 60_000)]] * LINES, TAGS)
    path = write_parquet(tmp_path, "resource_tags", tags)

    with pytest.raises(CostFileError) as refused:
        parse(path, Limits(batch_text_bytes_max=LINES * 40_000))

    assert refused.value.rule == "text_too_long"
    assert "40000 bytes" in refused.value.detail
    assert parse(path, Limits(batch_text_bytes_max=LINES * 70_000))


def test_values_up_to_the_limit_are_read(tmp_path: Path) -> None:
    longest = LONG[1:]
    values = pa.array([longest] + ["AmazonS3"] * (LINES - 1), pa.string())

    lines = parse(write_parquet(tmp_path, "line_item_product_code", values))

    assert lines[0].fields["service"][0].as_py() == longest


def test_a_long_value_in_a_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(build_report([report_line("1"), report_line("1", ProductCode=LONG)]))

    with pytest.raises(CostFileError) as refused:
        parse(path)

    assert (refused.value.rule, refused.value.line) == ("value_too_long", 3)
    assert refused.value.column == "lineItem/ProductCode"
