"""The Japanese headers of the files about billing groups have the specified meanings."""

from __future__ import annotations

import pytest

from nimbill.invoicing.exports import columns
from tests.contract.specification import read_table

MEANINGS = {
    "請求グループID": "billing group id",
    "請求グループ名": "billing group name",
    "企業名": "company name",
    "郵便番号": "postal code",
    "住所": "address",
    "電話番号": "phone number",
    "宛名": "addressee",
    "請求書タイトル": "invoice title",
    "コスト": "cost",
    "カスタムフィールド": "custom fields",
    "ベンダー": "vendor",
    "値引率": "discount rate",
    "消費税": "consumption tax",
    "AWSサポート請求方法": "AWS support billing method",
    "AWSサポート（一律%の場合）": "AWS support (flat percent)",
    "AWSサポート（固定）": "AWS support (fixed)",
    "代行手数料請求方法": "agency fee billing method",
    "代行手数料（％）": "agency fee (percent)",
    "代行手数料（固定）": "agency fee (fixed)",
    "集計タイプ": "aggregation type",
    "値引き対象": "discount target",
    "請求代行サービス計算対象": "agency service calculation target",
}


@pytest.mark.parametrize(
    ("file", "headers"),
    [
        ("billing-group", columns.BILLING_GROUP),
        ("billing-group-setting", columns.BILLING_GROUP_SETTING),
    ],
)
def test_the_columns_are_the_specified_ones(file: str, headers: tuple[str, ...]) -> None:
    specified = dict(read_table("Billing group CSV columns", "File"))

    assert specified[file].split(", ") == [MEANINGS[header] for header in headers]
