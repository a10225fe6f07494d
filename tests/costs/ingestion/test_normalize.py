"""Lines as they are kept: months and tags read word by word, and no null where none may be."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.ingestion.delivery import CostFileError
from tests.costs.reading import Read, read_delivery

HEADER = (
    "bill/PayerAccountId,lineItem/UsageAccountId,bill/BillingEntity,bill/BillingPeriodStartDate,"
    "lineItem/LineItemType,lineItem/ProductCode,lineItem/UnblendedCost,lineItem/CurrencyCode,"
    "lineItem/UsageStartDate,resourceTags/user:team,resourceTags/user:Team,resourceTags/user:env"
)
PERIOD, NEXT = "2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z"


def line(
    *,
    period: str = PERIOD,
    kind: str = "Usage",
    service: str = "AmazonEC2",
    currency: str = "USD",
    start: str = "2026-09-07T22:00:00Z",
    tags: str = ",,",
) -> str:
    return f"1,2,AWS,{period},{kind},{service},0.5,{currency},{start},{tags}"


def read(folder: Path, lines: Sequence[str], month: str | None = None) -> Read:
    source = folder / "report.csv"
    source.write_text("\n".join([HEADER, *lines]) + "\n")
    return read_delivery([source], folder, vendor="aws", month=month)


def test_a_billing_period_of_a_month_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CostFileError) as refused:
        read(tmp_path, [line(), line(period="2026-13-01T00:00:00Z")])

    assert (refused.value.rule, refused.value.line) == ("moment", 3)
    assert refused.value.column == "bill/BillingPeriodStartDate"


def test_the_first_line_of_another_month_is_told(tmp_path: Path) -> None:
    with pytest.raises(CostFileError) as refused:
        read(tmp_path, [line(), line(), line(period=NEXT), line(period=NEXT)], month="2026-09")

    assert (refused.value.rule, refused.value.line) == ("month", 4)


def test_usage_outside_the_month_is_counted(tmp_path: Path) -> None:
    starts = ["2026-09-30T23:00:00Z", "2026-10-01T00:00:00Z", "2026-08-31T23:59:59Z", "2026-10-02"]

    found = read(tmp_path, [line(start=start) for start in starts]).converted

    assert (found.month, dict(found.noticed.months)) == ("2026-09", {"2026-09": 4})
    assert found.noticed.outside_month == 3


def test_a_word_under_several_keys_is_each_keys_own(tmp_path: Path) -> None:
    """Words of all tags share one dictionary; empty cells are no tags, whatever is left of them."""
    tags = ["red,red,dev", ",red,", ",,", "blue,,red", '"a,b",請求,']

    found = read(tmp_path, [line(tags=one) for one in tags])

    assert [row["tags"] for row in found.rows] == [
        [("team", "red"), ("Team", "red"), ("env", "dev")],
        [("Team", "red")],
        [],
        [("team", "blue"), ("env", "red")],
        [("team", "a,b"), ("Team", "請求")],
    ]


def test_spellings_of_one_currency_and_a_missing_service_become_words(tmp_path: Path) -> None:
    lines = [line(currency="usd"), line(currency="USD", service=""), line(kind="Fee"), line()]

    found = read(tmp_path, lines)

    assert [row["currency"] for row in found.rows] == ["USD"] * 4
    assert [row["service"] for row in found.rows] == ["AmazonEC2", "", "AmazonEC2", "AmazonEC2"]
    assert [row["entry_type"] for row in found.rows] == [None, None, "Fee", None]
    assert found.wrong == []


def test_what_may_not_be_null_is_written_so(tmp_path: Path) -> None:
    (file,) = read(tmp_path, [line()]).converted.files

    written = pq.read_schema(file.path)

    assert {one.name for one in written if not one.nullable} == {
        one.name for one in SCHEMA if not one.nullable
    }
    assert written.field("tags").type == pa.map_(pa.string(), pa.string())
