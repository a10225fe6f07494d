"""The headings of the portal's CSV files in the language of the customer.

Programs look for the specified names, which are those of the API without a language.
"""

from collections.abc import Sequence
from typing import Annotated

from litestar.params import QueryParameter

from nimbill.foundation.language import Language

# See docs/choices.md, portal-csv-headings.

HeadingLanguage = Annotated[
    Language | None,
    QueryParameter(
        name="language",
        description="the language of the headings; without it, and with en, they are the specified "
        "names",
    ),
]

JAPANESE = {
    # invoices
    "BillingGroupID": "請求グループID",
    "BillingGroupName": "請求グループ名",
    "CompanyName": "企業名",
    "Vendor": "ベンダー",
    "CustomerID": "アカウントID",
    "CustomerName": "アカウント名",
    "Tag": "タグ",
    "ServiceType": "区分",
    "ServiceName": "サービス名",
    "Charge": "値引前金額",
    "DiscountCharge": "値引後金額",
    "DiscountCharge - TaxFree": "値引後金額（課税対象）",
    "FreeFormat": "フリーフォーマット項目",
    "CustomService": "カスタムサービス",
    "Tax": "消費税",
    "Total": "合計（税込）",
    # usage
    "Month": "対象月",
    "GroupID": "アカウントグループID",
    "GroupName": "アカウントグループ名",
    "TagKey": "タグキー",
    "TagValue": "タグの値",
    "TagKey1": "タグキー1",
    "TagValue1": "タグの値1",
    "TagKey2": "タグキー2",
    "TagValue2": "タグの値2",
    "Service": "サービス",
    "Marketplace": "マーケットプレイス",
    "Currency": "通貨",
    "Amount": "金額",
    "Provisional": "暫定",
    "Unpriced": "金額のない理由",
}


def translate_headings(header: Sequence[str], language: Language | None) -> Sequence[str]:
    """Return the headings in this language; the specified names are English."""
    if language is not Language.ja:
        return header
    return [JAPANESE[name] for name in header]
