"""Every shape of vendor file has the same sums as CSV, gzip, zip and Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from tests.costs.cost_columns import (
    AWS_CUR,
    AZURE_MCA,
    AZURE_PLAN,
    BILLING_ACCOUNT,
    FOCUS_1_3,
    FOCUS_1_4,
    OTHER_SUBSCRIPTION,
    PARTNER,
    PARTNER_CENTER,
    SUBSCRIPTION,
)
from tests.costs.delivery_reader import DeliveryResult, read_delivery
from tests.costs.file_containers import CONTAINERS, write_lines

BILLING_PATH = "/providers/Microsoft.Billing/billingAccounts"
PRIMARY, MEMBER = "300000000010", "011254002932"  # accounts of a billing group of AWS


@dataclass(frozen=True)
class Shape:
    vendor: str
    columns: Mapping[str, str]
    lines: Sequence[Mapping[str, str]]
    payer: str
    totals: Mapping[tuple[str, str], str]  # customer and kind
    has_invoices: bool = True
    month: str | None = None

    def read(self, folder: Path, container: str) -> DeliveryResult:
        file = write_lines(folder, self.lines, columns=self.columns, container=container)
        return read_delivery([file], folder, vendor=self.vendor, month=self.month)


def without(columns: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in columns.items() if name not in names}


def to_snake_case(columns: Mapping[str, str]) -> dict[str, str]:
    """CUR 2.0 names its columns in snake case and has all tags in one column."""
    names = {
        name: "".join(f"_{c.lower()}" if c.isupper() else c for c in name.replace("/", ""))
        for name in columns
        if not name.startswith("resourceTags")
    }
    return {names[name]: columns[name] for name in names} | {"resource_tags": ""}


def cur(cost: str, account: str, line_type: str = "Usage", **others: str) -> dict[str, str]:
    return {
        "lineItem/UnblendedCost": cost,
        "lineItem/UsageAccountId": account,
        "lineItem/LineItemType": line_type,
        **others,
    }


def cur2(cost: str, account: str, line_type: str = "Usage") -> dict[str, str]:
    return {
        "line_item_unblended_cost": cost,
        "line_item_usage_account_id": account,
        "line_item_line_item_type": line_type,
        "resource_tags": '{"user_Team": "shop"}',
    }


def mca(cost: str, subscription: str = SUBSCRIPTION, **others: str) -> dict[str, str]:
    return {"costInBillingCurrency": cost, "SubscriptionId": subscription, **others}


def partner(cost: str, subscription: str = SUBSCRIPTION, **others: str) -> dict[str, str]:
    return {"BillingPreTaxTotal": cost, "EntitlementId": subscription, **others}


def focus(cost: str, category: str = "Usage", **others: str) -> dict[str, str]:
    return {"BilledCost": cost, "ChargeCategory": category, **others}


PRO_FORMA = AWS_CUR | {
    "bill/PayerAccountId": PRIMARY,
    "bill/InvoiceId": "",
    "bill/BillType": "Anniversary",
}
PARTNER_LINES = (
    partner("0.490235765325545"),
    partner("12.3400000000000001", OTHER_SUBSCRIPTION, UsageDate="2026-09-30"),
    partner("-0.05", ChargeType="new"),
    partner("-2.25", ChargeType="CustomerCredit"),
    partner("7", "", PublisherName="Scanner Works"),
    partner("0.125", ChargeType="PurchaseFee"),
)
PARTNER_TOTALS = {
    (SUBSCRIPTION, "usage"): "0.440235765325545",
    (OTHER_SUBSCRIPTION, "usage"): "12.3400000000000001",
    (SUBSCRIPTION, "entry"): "-2.25",
    (AZURE_PLAN, "usage"): "7",
    (SUBSCRIPTION, "unknown"): "0.125",
}

SHAPES = {
    "AWS pro forma report": Shape(
        vendor="aws",
        columns=PRO_FORMA,
        lines=[
            cur("0.1234567891", PRIMARY),
            cur("2.5", MEMBER),
            cur("0.0000000009", MEMBER),
            cur("100", MEMBER, "Fee", **{"bill/BillType": "Purchase"}),
            cur("-1.5", PRIMARY, "Credit"),
        ],
        payer=PRIMARY,
        totals={
            (PRIMARY, "usage"): "0.1234567891",
            (MEMBER, "usage"): "2.5000000009",
            (MEMBER, "entry"): "100",
            (PRIMARY, "entry"): "-1.5",
        },
    ),
    "AWS billing transfer in CUR 2.0, without the column of invoices": Shape(
        vendor="aws",
        columns=without(to_snake_case(PRO_FORMA), "bill_invoice_id"),
        lines=[cur2("0.75", MEMBER), cur2("0.5", MEMBER, "Tax")],
        payer=PRIMARY,
        totals={(MEMBER, "usage"): "0.75", (MEMBER, "tax"): "0.5"},
        has_invoices=False,
    ),
    "Azure MCA of an open month": Shape(
        vendor="azure",
        columns=AZURE_MCA | {"billingPeriodStartDate": "", "billingPeriodEndDate": ""},
        lines=[
            mca("1.0000000000000000000001"),
            mca("3", OTHER_SUBSCRIPTION, date="09/30/2026"),
            mca("0", pricingModel="Reservation"),
            mca("12", "", chargeType="Purchase", pricingModel="Reservation"),
        ],
        payer=BILLING_ACCOUNT,
        totals={
            (SUBSCRIPTION, "usage"): "1.0000000000000000000001",
            (OTHER_SUBSCRIPTION, "usage"): "3",
            (BILLING_ACCOUNT, "entry"): "12",
        },
    ),
    "Partner Center, billed": Shape(
        vendor="azure",
        columns=PARTNER_CENTER,
        lines=PARTNER_LINES,
        payer=PARTNER,
        totals=PARTNER_TOTALS,
    ),
    "Partner Center, unbilled, without the column of invoices": Shape(
        vendor="azure",
        columns=without(PARTNER_CENTER, "InvoiceNumber", "Tier2MpnId"),
        lines=PARTNER_LINES,
        payer=PARTNER,
        totals=PARTNER_TOTALS,
    ),
    "FOCUS 1.3": Shape(
        vendor="aws",
        columns=FOCUS_1_3,
        lines=[
            focus("0.3"),
            focus("4", "Purchase", SubAccountId="000000000002"),
            focus("0.7", PublisherName="Scanner Works", ServiceProviderName="Scanner Works"),
            focus("55", ProviderName="Oracle", InvoiceIssuerName="Oracle"),
        ],
        payer="000000000042",
        totals={
            ("000000000001", "usage"): "1.0",
            ("000000000002", "entry"): "4",
        },
    ),
    "FOCUS 1.4 without sub-accounts": Shape(
        vendor="azure",
        columns=without(
            FOCUS_1_4
            | {
                "ServiceProviderName": "Microsoft",
                "InvoiceIssuerName": "Microsoft Ireland Operations Limited",
                "BillingAccountId": f"{BILLING_PATH}/{BILLING_ACCOUNT}",
            },
            "SubAccountId",
        ),
        lines=[
            focus("0.25"),
            focus("2", ServiceProviderName="Scanner Works"),
            focus("1", "Tax"),
            focus("9", ServiceProviderName="AWS"),
        ],
        payer=BILLING_ACCOUNT,
        totals={(BILLING_ACCOUNT, "usage"): "2.25", (BILLING_ACCOUNT, "tax"): "1"},
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_has_the_same_sums_in_every_container(
    tmp_path: Path, name: str, container: str
) -> None:
    shape = SHAPES[name]

    result = shape.read(tmp_path, container)

    sums = result.sums("customer_id", "kind")
    assert sums == {key: Decimal(total) for key, total in shape.totals.items()}
    assert {row["payer_id"] for row in result.rows} == {shape.payer}
    assert result.differences == []
    assert result.conversion.month == "2026-09"
    assert result.conversion.warnings.has_invoice_ids is shape.has_invoices


def test_partner_center_lines_have_services_tags_and_benefits(tmp_path: Path) -> None:
    shape = Shape(
        vendor="azure",
        columns=PARTNER_CENTER,
        lines=[
            partner("1", Tags='{"Team": "shop"}', BenefitId="b-1", BenefitType="SavingsPlan"),
            partner("1", MeterCategory="", BenefitId="b-2", BenefitType="Reservation"),
            partner("1", PublisherName="Scanner Works", InvoiceNumber=""),
        ],
        payer=PARTNER,
        totals={},
    )

    first, second, third = shape.read(tmp_path, "csv").rows

    assert (first["service"], second["service"]) == ("Virtual Machines", "Microsoft.Compute")
    assert dict(first["tags"]) == {"Team": "shop"}
    assert (first["savings_plan_id"], first["reservation_id"]) == ("b-1", None)
    assert (second["savings_plan_id"], second["reservation_id"]) == (None, "b-2")
    assert [row["marketplace"] for row in (first, second, third)] == [False, False, True]
    assert (first["invoice_id"], third["invoice_id"]) == ("G002297372", None)


@pytest.mark.parametrize(
    ("columns", "line", "marketplace"),
    [
        (FOCUS_1_3, {"PublisherName": "Amazon Web Services EMEA SARL"}, False),
        (FOCUS_1_3, {"PublisherName": "Red Hat Inc."}, True),
        (FOCUS_1_4, {}, False),
        (FOCUS_1_4, {"ServiceProviderName": "Red Hat", "HostProviderName": "Red Hat"}, True),
    ],
)
def test_a_product_of_another_maker_is_from_the_marketplace(
    tmp_path: Path, columns: Mapping[str, str], line: Mapping[str, str], marketplace: bool
) -> None:
    shape = Shape(vendor="aws", columns=columns, lines=[line], payer="", totals={})

    (row,) = shape.read(tmp_path, "csv").rows

    assert row["marketplace"] is marketplace


def test_a_line_belongs_to_no_vendor_because_the_vendor_hosts_it(tmp_path: Path) -> None:
    hosted = {"ServiceProviderName": "Databricks", "InvoiceIssuerName": "Databricks"}
    shape = Shape(vendor="aws", columns=FOCUS_1_4, lines=[{}, hosted], payer="", totals={})

    result = shape.read(tmp_path, "csv")

    assert result.conversion.lines == 1
    assert result.conversion.warnings.other_vendors == {"Databricks": 1}
    assert result.differences == []
