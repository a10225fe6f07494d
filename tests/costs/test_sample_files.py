"""Real files of the vendors are read to the control totals that are known of them."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from tests.costs.reading import Read, read_delivery

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the sample files are not beside this checkout"
)

OWNER, LINKED = "836060457634", "011254002932"  # the second begins with a zero


@pytest.fixture
def read(tmp_path: Path) -> "ReadSample":
    return ReadSample(tmp_path)


class ReadSample:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *names: str, vendor: str, month: str | None = None) -> Read:
        sources = [DATA / name for name in names]
        return read_delivery(sources, self.folder, vendor=vendor, month=month)


@pytest.mark.parametrize(
    ("file", "month", "totals"),
    [
        (
            "aws/wa-labs/Oct2018-WorkshopCUR-00001.snappy.parquet",
            "2018-10",
            {
                (OWNER, "Usage"): "3843.2519471102",
                (OWNER, "RIFee"): "149.7753790000",
                (OWNER, "DiscountedUsage"): "0",
                (LINKED, "Usage"): "71.4558054277",
                (LINKED, "DiscountedUsage"): "0",
            },
        ),
        (
            "aws/wa-labs/Nov2018-WorkshopCUR-00001.snappy.parquet",
            "2018-11",
            {
                (OWNER, "Usage"): "3297.4572207931",
                (OWNER, "RIFee"): "147.3840000000",
                (OWNER, "DiscountedUsage"): "0",
                (LINKED, "Usage"): "60.4857473337",
                (LINKED, "DiscountedUsage"): "0",
            },
        ),
    ],
)
def test_a_finalised_month_in_parquet_with_doubles(
    read: ReadSample, file: str, month: str, totals: dict[tuple[str, str], str]
) -> None:
    found = read(file, vendor="aws")

    assert found.converted.month == month
    assert found.sums("customer_id", "line_type") == {
        key: Decimal(total) for key, total in totals.items()
    }
    assert found.wrong == []
    fees = found.sums("line_type", "reservation_id")
    assert len([key for key in fees if key[0] == "RIFee"]) == 9


def test_focus_with_three_providers_is_taken_vendor_by_vendor(read: ReadSample) -> None:
    aws = read("focus/focus_sample_1.0.csv", vendor="aws")
    azure = read("focus/focus_sample_1.0.csv", vendor="azure")

    assert (aws.converted.lines, azure.converted.lines) == (942, 51)
    assert aws.converted.noticed.other_vendors == {"Microsoft": 51, "Oracle": 7}
    assert aws.wrong == azure.wrong == []
    # 20.52022672899 in all, of which 0.2... are Oracle's
    both = sum((*aws.sums("kind").values(), *azure.sums("kind").values()), Decimal(0))
    assert both + _oracle() == Decimal("20.52022672899")
    assert {row["payer_id"] for row in azure.rows} == {"8611537"}
    assert all(not row["marketplace"] for row in azure.rows)


def _oracle() -> Decimal:
    """By hand, from the text of the file."""
    with (DATA / "focus/focus_sample_1.0.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["ProviderName"] == "Oracle"]
    return sum((Decimal(row["BilledCost"]) for row in rows), Decimal(0))


def test_an_ea_export_with_tags_without_braces(read: ReadSample) -> None:
    found = read("azure/ea/EA_ActualCost_Small.csv", vendor="azure")

    assert sum(found.sums("kind").values(), Decimal(0)) == Decimal("8.5450077867419368")
    assert found.sums("kind")["entry"] == Decimal("3.25")  # the purchase of a reservation
    assert found.converted.month == "2023-09"
    assert found.converted.noticed.unreadable_tags == 0
    assert any(dict(row["tags"]).get("CostCenter") == "1234" for row in found.rows)
    assert found.wrong == []


def test_a_header_without_lines_is_a_valid_nothing(read: ReadSample) -> None:
    assert read("azure/ea/EA_NoRows.csv", vendor="azure").converted.lines == 0
    assert read("aws/koku/empty_frame.csv", vendor="aws").converted.lines == 0


def test_a_report_whose_header_changes_between_its_parts(read: ReadSample) -> None:
    """The manifest names the parts that count; keys that differ in case are two tags."""
    found = read("aws/nise", vendor="aws")

    assert found.converted.lines == 6480
    assert found.wrong == []
    assert {"Team": "alpha", "environment": "prod", "team": "beta"} in [
        dict(row["tags"]) for row in found.rows
    ]
    assert any(row["marketplace"] for row in found.rows)


def test_before_and_after_it_was_finalised(read: ReadSample) -> None:
    before = read("aws/koku/2023-06-01-not-final.csv", vendor="aws")
    after = read("aws/koku/2023-06-01.csv", vendor="aws")

    assert {row["invoice_id"] for row in before.rows} == {None}
    assert {row["invoice_id"] for row in after.rows} == {"987654321"}
    assert after.sums("currency", "line_type") == {("NOK", "SavingsPlanCoveredUsage"): Decimal(30)}


@pytest.mark.parametrize(
    ("file", "month", "total"),
    [
        ("aws/keboola/cur_1_0_MockTestReport-00001.csv.zip", "2024-01", "0.045152"),
        ("aws/keboola/cur_2_0_MockTestReportV2-00001.csv.gz", "2024-09", "0.108304"),
    ],
)
def test_zip_and_gzip_of_both_report_kinds(
    read: ReadSample, file: str, month: str, total: str
) -> None:
    found = read(file, vendor="aws")

    assert found.converted.month == month
    assert sum(found.sums("kind").values(), Decimal(0)) == Decimal(total)
    assert found.wrong == []


@pytest.mark.parametrize(
    ("file", "rule", "line", "column"),
    [
        ("azure/headers/azure_version_2.csv", "currency", 2, "BillingCurrencyCode"),
        ("azure/headers/headersets_BOM.csv", "empty", 2, "PreTaxCost"),
        ("azure/headers/values_MissingBrackets.csv", "column_missing", 1, "BillingCurrency"),
    ],
)
def test_a_file_that_lacks_something_says_what_and_where(
    read: ReadSample, file: str, rule: str, line: int, column: str
) -> None:
    with pytest.raises(CostFileError) as caught:
        read(file, vendor="azure")

    assert (caught.value.rule, caught.value.line, caught.value.column) == (rule, line, column)


@pytest.mark.parametrize("month", [None, "2018-08"])
def test_of_a_file_with_three_billing_months_none_is_taken_out(
    read: ReadSample, month: str | None
) -> None:
    """Its manifest names one of them; whether the others are whole in it, nobody knows."""
    with pytest.raises(CostFileError) as caught:
        read("aws/koku/bucket", vendor="aws", month=month)

    assert (caught.value.rule, caught.value.line) == ("month", 2)


def test_the_period_counts_and_not_the_day_of_use(read: ReadSample) -> None:
    found = read("azure/headers/headersets_Enterprise.csv", vendor="azure")

    assert found.converted.month == "2021-05"  # used in February
    assert found.converted.noticed.outside_month == 1
    assert found.rows[0]["currency"] == "CAD"
