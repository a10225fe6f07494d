"""Words of a Parquet part are taken as the file keeps them, and never stand there twice."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.ingestion.delivery import Limits, Part
from nimbill.costs.ingestion.raw_lines import RawLines, pieces_of
from nimbill.demo.vendor_files.writing import Dialect, Month, write_files

LINES = 300
INVOICE, START = "bill_invoice_id", "line_item_usage_start_date"


def read_with(folder: Path, column: str, values: pa.Array) -> RawLines:
    """A month whose column was written like that."""
    month = Month(lines=LINES)
    path = write_files(month, Dialect.aws_cur_snake, folder, form="parquet").parts[0]
    table = pq.read_table(path)
    pq.write_table(table.set_column(table.column_names.index(column), column, values), path)
    (piece,) = pieces_of(Part(path.name, path, "parquet", path.stat().st_size, ""), Limits())
    return piece()


def test_words_that_mean_nothing_are_null_and_others_stay(tmp_path: Path) -> None:
    written = ["", "NULL", "\\N", None, "117", "118"] * (LINES // 6)

    found = read_with(tmp_path, INVOICE, pa.array(written, pa.string())).fields["invoice_id"]

    assert found.to_pylist() == [None, None, None, None, "117", "118"] * (LINES // 6)
    assert sorted(found.dictionary.to_pylist()) == ["117", "118"]


def test_moments_of_one_second_are_one_word(tmp_path: Path) -> None:
    """Written to Parquet, a dictionary with a word twice would give lines the wrong words."""
    second = datetime(2026, 9, 7, 22, tzinfo=UTC)
    moments = [second + timedelta(milliseconds=at % 3, hours=at // 150) for at in range(LINES)]

    found = read_with(tmp_path, START, pa.array(moments, pa.timestamp("us"))).fields["usage_start"]

    assert len(found.dictionary) == len(set(found.dictionary.to_pylist())) == 2
    assert found.to_pylist()[0].startswith("2026-09-07 22:00:00")
    assert found.to_pylist()[-1].startswith("2026-09-07 23:00:00")


def test_text_comes_as_the_words_of_the_file(tmp_path: Path) -> None:
    written = [f"invoice {at % 7}" for at in range(LINES)]

    found = read_with(tmp_path, INVOICE, pa.array(written, pa.string())).fields["invoice_id"]

    assert found.to_pylist() == written
    assert found.type == pa.dictionary(pa.int32(), pa.string())
