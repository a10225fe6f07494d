"""Real vendor files have the known control totals."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from tests.costs.delivery_reader import DeliveryResult, read_delivery

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the sample files are not beside this checkout"
)

OWNER, LINKED = "836060457634", "011254002932"  # with a leading zero


@pytest.fixture
def read(tmp_path: Path) -> "SampleReader":
    return SampleReader(tmp_path)


class SampleReader:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *names: str, vendor: str, month: str | None = None) -> DeliveryResult:
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
def test_a_final_month_in_parquet_with_doubles(
    read: SampleReader, file: str, month: str, totals: dict[tuple[str, str], str]
) -> None:
    result = read(file, vendor="aws")

    assert result.conversion.month == month
    assert result.sums("customer_id", "line_type") == {
        key: Decimal(total) for key, total in totals.items()
    }
    assert result.differences == []
    fees = result.sums("line_type", "reservation_id")
    assert len([key for key in fees if key[0] == "RIFee"]) == 9


def test_focus_with_three_providers_is_read_per_vendor(read: SampleReader) -> None:
    aws = read("focus/focus_sample_1.0.csv", vendor="aws")
    azure = read("focus/focus_sample_1.0.csv", vendor="azure")

    assert (aws.conversion.lines, azure.conversion.lines) == (942, 51)
    assert aws.conversion.warnings.other_vendors == {"Microsoft": 51, "Oracle": 7}
    assert aws.differences == azure.differences == []
    # 20.52022672899 in total, including 0.2... of Oracle
    both = sum((*aws.sums("kind").values(), *azure.sums("kind").values()), Decimal(0))
    assert both + _sum_oracle() == Decimal("20.52022672899")
    assert {row["payer_id"] for row in azure.rows} == {"8611537"}
    assert all(not row["marketplace"] for row in azure.rows)


def _sum_oracle() -> Decimal:
    """Sum the lines of the third provider directly from the file."""
    with (DATA / "focus/focus_sample_1.0.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["ProviderName"] == "Oracle"]
    return sum((Decimal(row["BilledCost"]) for row in rows), Decimal(0))


def test_an_ea_export_whose_tags_have_no_braces(read: SampleReader) -> None:
    result = read("azure/ea/EA_ActualCost_Small.csv", vendor="azure")

    assert sum(result.sums("kind").values(), Decimal(0)) == Decimal("8.5450077867419368")
    assert result.sums("kind")["entry"] == Decimal("3.25")  # the purchase of a reservation
    assert result.conversion.month == "2023-09"
    assert result.conversion.warnings.unreadable_tags == 0
    assert any(dict(row["tags"]).get("CostCenter") == "1234" for row in result.rows)
    assert result.differences == []


def test_a_file_with_only_a_header_has_no_lines(read: SampleReader) -> None:
    assert read("azure/ea/EA_NoRows.csv", vendor="azure").conversion.lines == 0
    assert read("aws/koku/empty_frame.csv", vendor="aws").conversion.lines == 0


def test_the_header_may_change_between_parts(read: SampleReader) -> None:
    """Tag keys that differ only in case are two tags."""
    result = read("aws/nise", vendor="aws")

    assert result.conversion.lines == 6480
    assert result.differences == []
    assert {"Team": "alpha", "environment": "prod", "team": "beta"} in [
        dict(row["tags"]) for row in result.rows
    ]
    assert any(row["marketplace"] for row in result.rows)


def test_only_a_final_report_has_invoice_ids(read: SampleReader) -> None:
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
def test_legacy_report_in_zip_and_cur2_report_in_gzip(
    read: SampleReader, file: str, month: str, total: str
) -> None:
    result = read(file, vendor="aws")

    assert result.conversion.month == month
    assert sum(result.sums("kind").values(), Decimal(0)) == Decimal(total)
    assert result.differences == []


@pytest.mark.parametrize(
    ("file", "rule", "line", "column"),
    [
        ("azure/headers/azure_version_2.csv", "currency", 2, "BillingCurrencyCode"),
        ("azure/headers/headersets_BOM.csv", "empty", 2, "PreTaxCost"),
        ("azure/headers/values_MissingBrackets.csv", "column_missing", 1, "BillingCurrency"),
    ],
)
def test_an_invalid_value_is_reported_with_its_location(
    read: SampleReader, file: str, rule: str, line: int, column: str
) -> None:
    with pytest.raises(CostFileError) as caught:
        read(file, vendor="azure")

    assert (caught.value.rule, caught.value.line, caught.value.column) == (rule, line, column)


@pytest.mark.parametrize("month", [None, "2018-08"])
def test_a_file_with_three_billing_months_is_refused(read: SampleReader, month: str | None) -> None:
    """Also if its manifest names one of them: the months may be incomplete."""
    with pytest.raises(CostFileError) as caught:
        read("aws/koku/bucket", vendor="aws", month=month)

    assert (caught.value.rule, caught.value.line) == ("month", 2)


def test_the_billing_period_decides_the_month(read: SampleReader) -> None:
    result = read("azure/headers/headersets_Enterprise.csv", vendor="azure")

    assert result.conversion.month == "2021-05"  # used in February
    assert result.conversion.warnings.outside_month == 1
    assert result.rows[0]["currency"] == "CAD"
