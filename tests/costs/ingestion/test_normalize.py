"""Normalising lines: months, tags, currencies, and the schema of the written files."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.cost_line import SCHEMA
from tests.costs.cost_columns import AZURE_MCA, BILLING_ACCOUNT, FOCUS_1_2, SUBSCRIPTION
from tests.costs.delivery_reader import DeliveryResult, read_delivery
from tests.costs.file_containers import write_lines

HEADER = (
    "bill/PayerAccountId,lineItem/UsageAccountId,bill/BillingEntity,bill/BillingPeriodStartDate,"
    "lineItem/LineItemType,lineItem/ProductCode,lineItem/UnblendedCost,lineItem/CurrencyCode,"
    "lineItem/UsageStartDate,resourceTags/user:team,resourceTags/user:Team,resourceTags/user:env"
)
PERIOD, NEXT = "2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z"


def csv_line(
    *,
    period: str = PERIOD,
    kind: str = "Usage",
    service: str = "AmazonEC2",
    currency: str = "USD",
    start: str = "2026-09-07T22:00:00Z",
    tags: str = ",,",
) -> str:
    return f"1,2,AWS,{period},{kind},{service},0.5,{currency},{start},{tags}"


def read(folder: Path, lines: Sequence[str], month: str | None = None) -> DeliveryResult:
    source = folder / "report.csv"
    source.write_text("\n".join([HEADER, *lines]) + "\n")
    return read_delivery([source], folder, vendor="aws", month=month)


def test_an_invalid_billing_period_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CostFileError) as caught:
        read(tmp_path, [csv_line(), csv_line(period="2026-13-01T00:00:00Z")])

    assert (caught.value.rule, caught.value.line) == ("moment", 3)
    assert caught.value.column == "bill/BillingPeriodStartDate"


def test_the_first_line_of_another_month_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CostFileError) as caught:
        read(
            tmp_path,
            [csv_line(), csv_line(), csv_line(period=NEXT), csv_line(period=NEXT)],
            month="2026-09",
        )

    assert (caught.value.rule, caught.value.line) == ("month", 4)


def test_usage_outside_the_month_is_counted(tmp_path: Path) -> None:
    starts = ["2026-09-30T23:00:00Z", "2026-10-01T00:00:00Z", "2026-08-31T23:59:59Z", "2026-10-02"]

    conversion = read(tmp_path, [csv_line(start=start) for start in starts]).conversion

    assert conversion.month == "2026-09"
    assert dict(conversion.warnings.months) == {"2026-09": 4}
    assert conversion.warnings.outside_month == 3


def test_the_same_value_can_occur_under_several_tag_keys(tmp_path: Path) -> None:
    """All tag columns share one dictionary; empty cells are not tags."""
    tags = ["red,red,dev", ",red,", ",,", "blue,,red", '"a,b",請求,']

    result = read(tmp_path, [csv_line(tags=cells) for cells in tags])

    assert [row["tags"] for row in result.rows] == [
        [("team", "red"), ("Team", "red"), ("env", "dev")],
        [("Team", "red")],
        [],
        [("team", "blue"), ("env", "red")],
        [("team", "a,b"), ("Team", "請求")],
    ]


def test_currencies_become_upper_case_and_a_missing_service_empty(tmp_path: Path) -> None:
    lines = [
        csv_line(currency="usd"),
        csv_line(currency="USD", service=""),
        csv_line(kind="Fee"),
        csv_line(),
    ]

    result = read(tmp_path, lines)

    assert [row["currency"] for row in result.rows] == ["USD"] * 4
    assert [row["service"] for row in result.rows] == ["AmazonEC2", "", "AmazonEC2", "AmazonEC2"]
    assert [row["entry_type"] for row in result.rows] == [None, None, "Fee", None]
    assert result.differences == []


@pytest.mark.parametrize("container", ["csv", "parquet"])
def test_a_line_without_an_account_belongs_to_its_payer_and_the_other_way_round(
    tmp_path: Path, container: str
) -> None:
    """Pay-as-you-go files name no billing account: each subscription pays for itself."""
    lines = [{}, {"SubscriptionId": ""}, {"billingAccountId": ""}]
    file = write_lines(tmp_path, lines, columns=AZURE_MCA, container=container)
    without_payer = {n: value for n, value in AZURE_MCA.items() if n != "billingAccountId"}
    payg = write_lines(tmp_path / "payg", [{}], columns=without_payer, container=container)

    result = read_delivery([file], tmp_path, vendor="azure")
    payg_result = read_delivery([payg], tmp_path / "payg", vendor="azure")

    assert [(row["payer_id"], row["customer_id"]) for row in result.rows] == [
        (BILLING_ACCOUNT, SUBSCRIPTION),
        (BILLING_ACCOUNT, BILLING_ACCOUNT),
        (SUBSCRIPTION, SUBSCRIPTION),
    ]
    assert {row["payer_id"] for row in payg_result.rows} == {SUBSCRIPTION}
    assert result.differences == payg_result.differences == []


def test_a_line_with_neither_account_nor_payer_is_refused(tmp_path: Path) -> None:
    nobody = {"SubscriptionId": "", "billingAccountId": ""}
    file = write_lines(tmp_path, [{}, nobody], columns=AZURE_MCA)

    with pytest.raises(CostFileError) as caught:
        read_delivery([file], tmp_path, vendor="azure")

    assert (caught.value.rule, caught.value.line) == ("empty", 3)
    assert caught.value.column == "SubscriptionId"


def test_a_charge_of_no_sub_account_belongs_to_the_billing_account(tmp_path: Path) -> None:
    file = write_lines(tmp_path, [{}, {"SubAccountId": "NULL"}], columns=FOCUS_1_2)

    result = read_delivery([file], tmp_path, vendor="aws")

    assert [row["customer_id"] for row in result.rows] == ["000000000001", "000000000042"]
    assert result.differences == []


def test_required_columns_are_not_nullable_in_the_file(tmp_path: Path) -> None:
    (file,) = read(tmp_path, [csv_line()]).conversion.files

    schema = pq.read_schema(file.path)

    assert {field.name for field in schema if not field.nullable} == {
        field.name for field in SCHEMA if not field.nullable
    }
    assert schema.field("tags").type == pa.map_(pa.string(), pa.string())
