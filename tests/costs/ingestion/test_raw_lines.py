"""The text of a CSV part is cut into blocks of whole lines, whatever is quoted in them."""

import csv
import gzip
import hashlib
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.ingestion import decompression, raw_lines
from nimbill.costs.ingestion.delivery import CostFileError, Limits, Part
from nimbill.costs.ingestion.raw_lines import pieces_of

HEADER = (
    "bill/PayerAccountId", "lineItem/UsageAccountId", "bill/BillingEntity",
    "bill/BillingPeriodStartDate", "lineItem/LineItemType", "lineItem/ProductCode",
    "lineItem/UnblendedCost", "lineItem/CurrencyCode", "lineItem/UsageStartDate",
    "lineItem/LineItemDescription", "resourceTags/user:a", "resourceTags/user:b",
)  # fmt: skip
SOUND = ("1", "2", "AWS", "2026-09-01T00:00:00Z", "Usage", "AmazonEC2", "0.1", "USD")
DESCRIPTION = HEADER.index("lineItem/LineItemDescription")
START = "2026-09-07T22:00:00Z"
BLOCK, UNPACKED = 600, 130  # bytes; of the service itself, mebibytes


def text_of(descriptions: list[str]) -> bytes:
    written = io.StringIO(newline="")
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows([*SOUND, START, text, "", ""] for text in descriptions)
    return written.getvalue().encode()


def part_of(text: bytes, folder: Path) -> Part:
    path = folder / "report.csv.gz"
    path.write_bytes(gzip.compress(text, 1))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Part(path.name, path, "csv.gz", path.stat().st_size, digest)


words = st.text(st.sampled_from('ab,"\n請 '), max_size=60).map(lambda word: f"x{word}")


@given(st.lists(words, max_size=40))
def test_lines_are_the_same_however_small_the_blocks(descriptions: list[str]) -> None:
    text = text_of(descriptions)
    reader = csv.reader(io.StringIO(text.decode(), newline=""))
    next(reader)
    starts, found, lines = [], [], []
    end = 1
    for row in reader:
        starts.append((end + 1, row[DESCRIPTION]))
        end = reader.line_num

    with (
        TemporaryDirectory() as folder,
        patch.object(raw_lines, "BLOCK_BYTES", BLOCK),
        patch.object(decompression, "BLOCK_BYTES", UNPACKED),
    ):
        for piece in pieces_of(part_of(text, Path(folder)), Limits()):
            raw = piece()
            lines.append(raw.first_line)
            found += raw.fields["description"].to_pylist()

    assert found == [text for _, text in starts]
    assert set(lines) <= {line for line, _ in starts}, "a piece begins where a line does"


def test_a_cell_that_outgrows_two_blocks_is_refused(tmp_path: Path) -> None:
    part = part_of(text_of(["short", "\n" * 3 * BLOCK, "short"]), tmp_path)

    with (
        patch.object(raw_lines, "BLOCK_BYTES", BLOCK),
        patch.object(decompression, "BLOCK_BYTES", UNPACKED),
        pytest.raises(CostFileError) as refused,
    ):
        list(pieces_of(part, Limits()))

    assert refused.value.rule == "line_too_long"


def test_a_cell_of_more_than_a_block_is_read(tmp_path: Path) -> None:
    long = "\n" * (BLOCK + BLOCK // 4)
    part = part_of(text_of(["short", long, "short"]), tmp_path)

    with (
        patch.object(raw_lines, "BLOCK_BYTES", BLOCK),
        patch.object(decompression, "BLOCK_BYTES", UNPACKED),
    ):
        found = [
            text
            for piece in pieces_of(part, Limits())
            for text in piece().fields["description"].to_pylist()
        ]

    assert found == ["short", long, "short"]
