"""The header rows of the CSV files, as specified."""

from nimbill.foundation.basis import chosen, stated

basis = chosen("csv-headers")
invoice_basis = stated("CSV exports")

_GROUP = ("BillingGroupID", "BillingGroupName", "CompanyName", "Vendor")
_AMOUNTS = (
    "ServiceType",
    "ServiceName",
    "Charge",
    "DiscountCharge",
    "DiscountCharge - TaxFree",
    "FreeFormat",
    "CustomService",
    "Tax",
    "Total",
)
INVOICE_ACCOUNT = (*_GROUP, "CustomerID", "CustomerName", *_AMOUNTS)
INVOICE_TAG = (*_GROUP, "Tag", *_AMOUNTS)

BILLING_GROUP = (
    "請求グループID",
    "請求グループ名",
    "企業名",
    "郵便番号",
    "住所",
    "電話番号",
    "宛名",
    "請求書タイトル",
    "コスト",
    "カスタムフィールド",
)

BILLING_GROUP_SETTING = (
    "請求グループID",
    "請求グループ名",
    "ベンダー",
    "値引率",
    "消費税",
    "AWSサポート請求方法",
    "AWSサポート（一律%の場合）",
    "AWSサポート（固定）",
    "代行手数料請求方法",
    "代行手数料（％）",
    "代行手数料（固定）",
    "集計タイプ",
    "値引き対象",
    "請求代行サービス計算対象",
)
