"""Projects, invoice templates, cloud accounts and subusers of the demo's resellers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from nimbill.customers.invoice_templates.registration_number_rules import compute_check_digit
from nimbill.demo.customers import DemoCustomer
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill.foundation.vendors import BilledVendor

TAG_KEY = "team"  # invoices with calc_type "tag" are grouped by this tag
REPORT_TAG_KEYS = [TAG_KEY, "env"]  # the portal sums costs by these


@dataclass(frozen=True, slots=True)
class DemoProject:
    code: str
    label: str
    currency: str
    billing_groups: tuple[str, ...]  # billinggroup_id


@dataclass(frozen=True, slots=True)
class DemoCloudAccount:
    vendor: BilledVendor
    customer_id: str
    account_id: str
    name: str
    customer: DemoCustomer
    number: int  # position among the customer's accounts; 0 is the production account


@dataclass(frozen=True, slots=True)
class DemoSubuser:
    """A subuser with a role; `billing_groups` restricts it to some billing groups."""

    username: str
    role: str
    permissions: tuple[str, ...]
    billing_groups: tuple[str, ...] = ()


def _group_ids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"BG-{number:04}" for number in numbers)


PROJECTS = (
    DemoProject("EAST", "東日本営業部", "jpy", _group_ids(3, 4, 7, 8, 10, 11, 13, 16, 27, 33)),
    DemoProject(
        "WEST",
        "西日本営業部",
        "jpy",
        _group_ids(1, 2, 5, 6, 15, 17, 18, 20, 25, 26, 32, 38, 40),
    ),
    DemoProject("PUBLIC", "公共・文教", "jpy", _group_ids(9, 14, 30, 31, 37)),
    DemoProject("GLOBAL", "海外取引", "usd", _group_ids(12, 21, 28, 36)),
)
SUBUSERS = (
    DemoSubuser(
        "keiri",
        "billing-clerk",
        ("ModifyBillingGroup", "ModifyAccount", "ModifyInvoice", "ReadProject"),
    ),
    DemoSubuser("kansai", "kansai-reader", ("ReadBillingGroup", "ReadAccount"), _group_ids(2, 6)),
)
# Email addresses of portal users by billing group.
PORTAL_LOGINS = {"BG-0001": "hinata@demo.invalid", "BG-0003": "akatsuki@demo.invalid"}
# The first customer sees every page of the portal, the second one those of a new account.
FULL_PORTAL = "BG-0001"
ACCOUNT_GROUP = "開発と検証"  # of the first customer
PORTAL_SUBUSER = DemoSubuser(
    "hinata-keiri", "invoice-reader", ("ReadAccount", "ReadInvoice", "DownloadReports")
)

# Who receives the invoices of a customer: name, address, and whether as recipient or as a copy.
# BG-0029 and BG-0039 have no contact, so that the page that sends invoices has something missing.
CONTACTS = {
    "BG-0001": (
        ("経理部 田中", "keiri@hinata.demo.invalid", "to"),
        ("情報システム部 鈴木", "joho@hinata.demo.invalid", "cc"),
    ),
    "BG-0002": (("情報システム部 伊藤", "joho@midorigaoka.demo.invalid", "to"),),
    "BG-0003": (("管理部 佐藤", "kanri@akatsuki.demo.invalid", "to"),),
    "BG-0004": (("総務部 高橋", "somu@shirokuma.demo.invalid", "to"),),
    "BG-0005": (("DX推進室 加藤", "dx@tsukinowa.demo.invalid", "to"),),
    "BG-0006": (("管理部 西村", "kanri@kotonoha.demo.invalid", "to"),),
    "BG-0007": (("財務部 渡辺", "zaimu@umineko.demo.invalid", "to"),),
    "BG-0008": (("法人事務局 中村", "jimukyoku@asagiri.demo.invalid", "to"),),
    "BG-0009": (("事務 小林", "jimu@nagisa.demo.invalid", "to"),),
    "BG-0010": (("バックオフィス 山本", "backoffice@iroha.demo.invalid", "to"),),
    "BG-0011": (("経営企画部 斎藤", "kikaku@hayabusa.demo.invalid", "to"),),
    "BG-0012": (("Accounts Payable", "ap@kaede.demo.invalid", "to"),),
    "BG-0013": (("経理部 吉田", "keiri@kotori.demo.invalid", "to"),),
    "BG-0014": (("会計課 石川", "kaikei@suzuran.demo.invalid", "to"),),
    "BG-0015": (("経理部 松本", "keiri@hotaru.demo.invalid", "to"),),
    "BG-0016": (("総務課 木村", "somu@madoka.demo.invalid", "to"),),
    "BG-0017": (("情報管理室 金子", "joho@harukaze.demo.invalid", "to"),),
    "BG-0018": (("事務 日高", "info@minami.demo.invalid", "to"),),
    "BG-0019": (("購買グループ 林", "kobai@tsubasa.demo.invalid", "to"),),
    "BG-0020": (("経理課 清水", "keiri@shiosai.demo.invalid", "to"),),
    "BG-0021": (("Finance Department", "finance@harbor-lane.demo.invalid", "to"),),
    "BG-0022": (("管理本部 山口", "kanri@komorebi.demo.invalid", "to"),),
    "BG-0023": (("情報課 森田", "joho@yukishiro.demo.invalid", "to"),),
    "BG-0024": (("事務局 宮崎", "jimukyoku@hiiragi.demo.invalid", "to"),),
    "BG-0025": (("技術局 池田", "gijutsu@sazanami.demo.invalid", "to"),),
    "BG-0026": (("生産管理部 橋本", "seikan@aoi.demo.invalid", "to"),),
    "BG-0027": (("システム統括部 阿部", "system@tachibana.demo.invalid", "to"),),
    "BG-0028": (("Bookkeeping", "bookkeeping@quiet-river.demo.invalid", "to"),),
    "BG-0030": (("情報基盤センター 岡田", "joho@akebono.demo.invalid", "to"),),
    "BG-0031": (("医事課 前田", "iji@rindo.demo.invalid", "to"),),
    "BG-0032": (("経営管理部 藤井", "kanri@momiji.demo.invalid", "to"),),
    "BG-0033": (("運用部 後藤", "unyo@fukurou.demo.invalid", "to"),),
    "BG-0034": (("業務課 長谷川", "gyomu@taiyo.demo.invalid", "to"),),
    "BG-0035": (("総務部 村上", "somu@kisaragi.demo.invalid", "to"),),
    "BG-0036": (("Accounts Payable", "ap@lantern.demo.invalid", "to"),),
    "BG-0037": (("デジタル推進課 近藤", "digital@sakuraba.demo.invalid", "to"),),
    "BG-0038": (("経理部 坂本", "keiri@kohaku.demo.invalid", "to"),),
    "BG-0040": (("情報企画部 遠藤", "joho@izumi.demo.invalid", "to"),),
}
# The customers whose invoices of the last closed month are mailed.
MAILED_CUSTOMERS = _group_ids(1, 3, 12)

# First and last digits of the account number, Japanese and English name, share of the spend.
ACCOUNT_PURPOSES = (
    ("01", "0017", "本番", "Production", 60),
    ("20", "0025", "開発", "Development", 12),
    ("31", "0033", "検証", "Staging", 18),
    ("42", "0041", "データ分析", "Analytics", 24),
    ("53", "0058", "ログ保管", "Logs", 7),
    ("64", "0066", "共通基盤", "Shared", 15),
    ("75", "0074", "バックアップ", "Backup", 6),
    ("86", "0082", "監査", "Audit", 3),
)
# Accounts after the last purpose belong to departments.
DEPARTMENT = ("97", "部門", "Department", 9)
ON_RECEIPT = "on_receipt"  # names the template of invoices that are due at once
FIRST_CUSTOMER_NUMBERS = {"aozora": 1, "minato": 901}


def list_projects(reseller: DemoReseller) -> tuple[DemoProject, ...]:
    return PROJECTS if reseller is AOZORA else ()


def invoice_templates(reseller: DemoReseller) -> dict[str, dict[str, Any]]:
    """Invoice templates by language or terms. The registration number is fictitious but valid."""
    digits = f"99{sum(map(ord, reseller.name)):010}"
    shared: dict[str, Any] = {
        "postal": "100-0001",
        "phone": "03-0000-0001",
        "registration_number": f"T{compute_check_digit(digits)}{digits}",
    }
    japanese = shared | {
        "name": "標準",
        "company": f"株式会社{reseller.name}",
        "address": "東京都千代田区千代田9-98",
        "contact": "請求担当 billing@demo.invalid",
        "bank_account": f"あおば銀行 本店 普通 0000001 カ){reseller.name}",
        "notes": "恐れ入りますが、振込手数料は貴社にてご負担ください。",
        "due_rule": "end_of_next_month",
        "accent_colour": "#1F6FB2",
    }
    on_receipt = japanese | {"name": "即日払い", "due_rule": "days", "due_days": 0}
    english = shared | {
        "name": "Overseas",
        "company": f"{reseller.english_name} K.K.",
        "address": "9-98 Chiyoda, Chiyoda-ku, Tokyo, Japan",
        "contact": "Billing, billing@demo.invalid",
        "bank_account": "Aoba Bank, Head Office, 0000001, SWIFT AOBAJPJT",
        "notes": "Please quote the invoice number with your payment.",
        "due_rule": "days",
        "due_days": 30,
        "accent_colour": "#0B7A5B",
    }
    if reseller is AOZORA:
        return {"ja": japanese, "en": english, ON_RECEIPT: on_receipt}
    return {"ja": japanese}


def list_cloud_accounts(reseller: DemoReseller) -> Iterator[DemoCloudAccount]:
    first = FIRST_CUSTOMER_NUMBERS[reseller.username]
    for customer_number, customer in enumerate(reseller.customers, start=first):
        for vendor, contract in customer.contracts.items():
            for number in range(contract.accounts):
                yield _build_account(reseller, customer, customer_number, vendor, number)


def _build_account(
    reseller: DemoReseller,
    customer: DemoCustomer,
    customer_number: int,
    vendor: BilledVendor,
    number: int,
) -> DemoCloudAccount:
    if number < len(ACCOUNT_PURPOSES):
        prefix, suffix, japanese, english, _ = ACCOUNT_PURPOSES[number]
    else:
        prefix, japanese, english, _ = DEPARTMENT
        department = number - len(ACCOUNT_PURPOSES) + 1
        suffix = f"{department:04}"
        japanese, english = f"{japanese}{department:02}", f"{english} {department:02}"
    subscription = str(uuid5(NAMESPACE_URL, f"{customer.company_name} {number}"))
    return DemoCloudAccount(
        vendor=vendor,
        customer_id=f"{prefix}{customer_number:06}{suffix}" if vendor == "aws" else subscription,
        account_id=reseller.payers[vendor],
        name=f"{customer.name} {english if customer.language == 'en' else japanese}",
        customer=customer,
        number=number,
    )


def weight(number: int) -> int:
    """The relative share of an account in its customer's spend."""
    purposes = ACCOUNT_PURPOSES
    return purposes[number][-1] if number < len(purposes) else DEPARTMENT[-1]


def find_production_account(
    reseller: DemoReseller, billinggroup_id: str, vendor: BilledVendor
) -> DemoCloudAccount:
    return next(
        account
        for account in list_cloud_accounts(reseller)
        if account.customer.billinggroup_id == billinggroup_id and account.vendor == vendor
    )
