"""CSV text is cut into blocks of complete lines, also if quoted values contain newlines."""

import csv
import errno
import gzip
import hashlib
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion import decompression, raw_lines
from nimbill.costs.ingestion.delivery import refuse_parquet_bomb
from nimbill.costs.ingestion.parts import Limits, Part
from nimbill.costs.ingestion.raw_lines import split_into_parse_tasks
from nimbill.costs.ingestion.unpacked_size import UnpackedSize

HEADER = (
    "bill/PayerAccountId", "lineItem/UsageAccountId", "bill/BillingEntity",
    "bill/BillingPeriodStartDate", "lineItem/LineItemType", "lineItem/ProductCode",
    "lineItem/UnblendedCost", "lineItem/CurrencyCode", "lineItem/UsageStartDate",
    "lineItem/LineItemDescription", "resourceTags/user:a", "resourceTags/user:b",
)  # fmt: skip
VALUES = ("1", "2", "AWS", "2026-09-01T00:00:00Z", "Usage", "AmazonEC2", "0.1", "USD")
DESCRIPTION = HEADER.index("lineItem/LineItemDescription")
START = "2026-09-07T22:00:00Z"
BLOCK, CHUNK = 600, 130  # bytes; in production several MiB


def build_text(descriptions: list[str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows([*VALUES, START, description, "", ""] for description in descriptions)
    return text.getvalue().encode()


def write_part(text: bytes, folder: Path) -> Part:
    path = folder / "report.csv.gz"
    path.write_bytes(gzip.compress(text, 1))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Part(path.name, path, "csv.gz", path.stat().st_size, digest)


cell_texts = st.text(st.sampled_from('ab,"\n請 '), max_size=60).map(lambda text: f"x{text}")


@given(st.lists(cell_texts, max_size=40))
def test_lines_do_not_depend_on_the_size_of_blocks(descriptions: list[str]) -> None:
    text = build_text(descriptions)
    reader = csv.reader(io.StringIO(text.decode(), newline=""))
    next(reader)
    expected, parsed, first_lines = [], [], []
    last_line = 1
    for row in reader:
        expected.append((last_line + 1, row[DESCRIPTION]))
        last_line = reader.line_num

    with (
        TemporaryDirectory() as folder,
        patch.object(raw_lines, "BLOCK_BYTES", BLOCK),
        patch.object(decompression, "BLOCK_BYTES", CHUNK),
    ):
        for parse in split_into_parse_tasks(write_part(text, Path(folder)), Limits()):
            raw = parse()
            first_lines.append(raw.first_line)
            parsed += raw.fields["description"].to_pylist()

    assert parsed == [description for _, description in expected]
    assert set(first_lines) <= {line for line, _ in expected}, "a block starts with a line"


def test_a_cell_longer_than_two_blocks_is_refused(tmp_path: Path) -> None:
    part = write_part(build_text(["short", "\n" * 3 * BLOCK, "short"]), tmp_path)

    with (
        patch.object(raw_lines, "BLOCK_BYTES", BLOCK),
        patch.object(decompression, "BLOCK_BYTES", CHUNK),
        pytest.raises(CostFileError) as caught,
    ):
        list(split_into_parse_tasks(part, Limits()))

    assert caught.value.rule == "line_too_long"


def test_a_cell_longer_than_one_block_is_read(tmp_path: Path) -> None:
    long = "\n" * (BLOCK + BLOCK // 4)
    part = write_part(build_text(["short", long, "short"]), tmp_path)

    with (
        patch.object(raw_lines, "BLOCK_BYTES", BLOCK),
        patch.object(decompression, "BLOCK_BYTES", CHUNK),
    ):
        descriptions = [
            text
            for parse in split_into_parse_tasks(part, Limits())
            for text in parse().fields["description"].to_pylist()
        ]

    assert descriptions == ["short", long, "short"]


@pytest.mark.parametrize(
    ("content", "error"), [(None, FileNotFoundError), (b"PAR1 is not all", CostFileError)]
)
def test_a_failing_disk_is_told_from_a_corrupt_parquet_file(
    tmp_path: Path, content: bytes | None, error: type[Exception]
) -> None:
    path = tmp_path / "a.parquet"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(error):
        list(split_into_parse_tasks(Part(path.name, path, "parquet", 15, ""), Limits()))


class FailingClose(io.FileIO):
    def close(self) -> None:
        if not self.closed:
            super().close()
            raise OSError(errno.EIO, "Input/output error")


def test_a_file_that_cannot_be_closed_is_an_error_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["1"]}), path)
    part = Part(path.name, path, "parquet", 1000, "")
    monkeypatch.setattr(Path, "open", lambda path, mode: FailingClose(path, mode))

    with pytest.raises(OSError, match="Input/output error"):
        list(split_into_parse_tasks(part, Limits()))
    with pytest.raises(OSError, match="Input/output error"):
        refuse_parquet_bomb(
            path.name, path, size=1000, limits=Limits(), total=UnpackedSize(Limits())
        )
