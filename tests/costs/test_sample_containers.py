"""Real vendor files have the same sums as CSV, gzip, zip and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_file_error import CostFileError
from tests.costs.delivery_reader import DeliveryResult, read_delivery
from tests.costs.file_containers import CONTAINERS, write_rows

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the sample files are not beside this checkout"
)

CUR = ("lineItem/UsageAccountId", "lineItem/UnblendedCost")
CUR_2 = ("line_item_usage_account_id", "line_item_unblended_cost")
NISE_AZURE = "azure/nise/costreport_1dd5d03f-0acf-46e7-9f76-15b804ff40af.csv"
FOCUS = "focus/focus_sample_1.0.csv"
OCTOBER = "aws/wa-labs/Oct2018-WorkshopCUR-00001.snappy.parquet"
# the columns of a report that an import needs; the file has 124
NEEDED = (
    *CUR_2,
    "bill_payer_account_id",
    "bill_billing_entity",
    "bill_billing_period_start_date",
    "line_item_line_item_type",
    "line_item_product_code",
    "line_item_currency_code",
    "line_item_usage_start_date",
)
LINES_MAX = 20_000  # test_sample_files.py reads all of them
# the columns of the account and the cost
SAMPLES: Mapping[str, tuple[str, str]] = {
    "aws/keboola/cur_1_0_sample_billing_data.csv": CUR,
    "aws/keboola/cur_2_0_sample_billing_data_v2.csv": CUR_2,
    "aws/koku/2023-06-01-not-final.csv": CUR,
    "aws/koku/2023-06-01.csv": CUR,
    "aws/koku/empty_frame.csv": CUR,
    **{
        f"aws/nise/September-2026-cur-{part}{state}.csv.gz": CUR
        for part in (1, 2, 3)
        for state in ("", "-finalized")
    },
    OCTOBER: CUR_2,
    "azure/ea/EA_ActualCost_Small.csv": ("SubscriptionId", "Cost"),
    "azure/ea/EA_NoRows.csv": ("SubscriptionId", "Cost"),
    "azure/headers/headersets_Enterprise.csv": ("SubscriptionId", "CostInBillingCurrency"),
    NISE_AZURE: ("SubscriptionId", "CostInBillingCurrency"),
    FOCUS: ("SubAccountId", "BilledCost"),
}
REFUSED = {
    "azure/headers/azure_version_2.csv": "currency",
    "azure/headers/headersets_BOM.csv": "empty",
    "azure/headers/values_MissingBrackets.csv": "column_missing",
}


@dataclass(frozen=True)
class Sheet:
    """A sample as rows of text."""

    header: list[str]
    rows: list[list[str]]

    def sum_by_account(self, account: str, cost: str) -> dict[str, Decimal]:
        at, cost_at = self.header.index(account), self.header.index(cost)
        sums: defaultdict[str, Decimal] = defaultdict(Decimal)
        for row in self.rows:
            sums[row[at].removeprefix("/subscriptions/")] += Decimal(row[cost_at])
        return dict(sums)

    def of_provider(self, name: str) -> Sheet:
        at = self.header.index("ProviderName")
        return Sheet(self.header, [row for row in self.rows if row[at] == name])


def _to_text(value: object) -> str:
    """Ten decimals of a double are what the vendor printed."""
    return f"{value:.10f}" if isinstance(value, float) else str(value)


@cache
def load(name: str) -> Sheet:
    path = DATA / name
    if path.suffix == ".parquet":
        table = pq.read_table(path, columns=list(NEEDED)).slice(0, LINES_MAX)
        columns = [table[column].to_pylist() for column in table.schema.names]
        rows = [[_to_text(value) for value in row] for row in zip(*columns, strict=True)]
        return Sheet(list(table.schema.names), rows)
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    return Sheet(header, rows)


def read(name: str, folder: Path, container: str, vendor: str | None = None) -> DeliveryResult:
    sheet = load(name)
    file = write_rows(folder, container, sheet.header, sheet.rows)
    return read_delivery([file], folder, vendor=vendor or name.partition("/")[0])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", [name for name in SAMPLES if name != FOCUS])
def test_a_sample_has_its_sums_in_every_container(
    tmp_path: Path, name: str, container: str
) -> None:
    result = read(name, tmp_path, container)

    assert result.sums("customer_id") == load(name).sum_by_account(*SAMPLES[name])
    assert result.conversion.lines == len(load(name).rows)
    assert result.differences == []


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_focus_sample_has_its_sums_for_each_vendor(tmp_path: Path, container: str) -> None:
    for vendor, provider in (("aws", "AWS"), ("azure", "Microsoft")):
        result = read(FOCUS, tmp_path / vendor, container, vendor)

        sheet = load(FOCUS).of_provider(provider)
        assert result.sums("customer_id") == sheet.sum_by_account(*SAMPLES[FOCUS])
        assert result.differences == []


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", REFUSED)
def test_a_sample_with_a_fault_is_refused_in_every_container(
    tmp_path: Path, name: str, container: str
) -> None:
    with pytest.raises(CostFileError) as caught:
        read(name, tmp_path, container)

    assert caught.value.rule == REFUSED[name]
