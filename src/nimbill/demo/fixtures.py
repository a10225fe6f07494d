"""What the resellers keep beside their customers: projects, templates, accounts, people."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from nimbill.customers.invoice_templates.registration_number_rules import check_digit
from nimbill.demo.customers import Customer
from nimbill.demo.story import AOZORA, Reseller

TAG_KEY = "team"  # by which invoices with calc_type tag are summed up


@dataclass(frozen=True, slots=True)
class Project:
    code: str
    label: str
    currency: str
    billing_groups: tuple[str, ...]  # by billinggroup_id


@dataclass(frozen=True, slots=True)
class CloudAccount:
    vendor: str
    customer_id: str
    account_id: str
    name: str
    customer: Customer
    number: int  # the customer's first is its production


@dataclass(frozen=True, slots=True)
class Person:
    """A subuser; what he may do in core, and of which groups where that is not all of them."""

    username: str
    role: str
    permissions: tuple[str, ...]
    billing_groups: tuple[str, ...] = ()


def _groups(*numbers: int) -> tuple[str, ...]:
    return tuple(f"BG-{number:04}" for number in numbers)


PROJECTS = (
    Project("EAST", "東日本営業部", "jpy", _groups(3, 4, 7, 8, 10, 11, 13, 16, 27, 33)),
    Project("WEST", "西日本営業部", "jpy", _groups(1, 2, 5, 6, 15, 17, 18, 20, 25, 26, 32, 38, 40)),
    Project("PUBLIC", "公共・文教", "jpy", _groups(9, 14, 30, 31, 37)),
    Project("GLOBAL", "海外取引", "usd", _groups(12, 21, 28, 36)),
)
PEOPLE = (
    Person(
        "keiri",
        "billing-clerk",
        ("ModifyBillingGroup", "ModifyAccount", "ModifyInvoice", "ReadProject"),
    ),
    Person("kansai", "kansai-reader", ("ReadBillingGroup", "ReadAccount"), _groups(2, 6)),
)
# who looks into the portal, and what he is not shown there
PORTAL_LOGINS = {"BG-0001": "hinata@demo.invalid", "BG-0003": "akatsuki@demo.invalid"}

# Of a customer's accounts: how their numbers begin and end, what they are for, their share.
KINDS = (
    ("01", "0017", "本番", "Production", 60),
    ("20", "0025", "開発", "Development", 12),
    ("31", "0033", "検証", "Staging", 18),
    ("42", "0041", "データ分析", "Analytics", 24),
    ("53", "0058", "ログ保管", "Logs", 7),
    ("64", "0066", "共通基盤", "Shared", 15),
    ("75", "0074", "バックアップ", "Backup", 6),
    ("86", "0082", "監査", "Audit", 3),
)
MORE = ("97", "部門", "Department", 9)  # and then one for each department
FIRST_PLACES = {"aozora": 1, "minato": 901}


def projects_of(reseller: Reseller) -> tuple[Project, ...]:
    return PROJECTS if reseller is AOZORA else ()


def templates_of(reseller: Reseller) -> dict[str, dict[str, str | int]]:
    """By language, the issuer as printed; the number is invented, its check digit is right."""
    digits = f"99{sum(map(ord, reseller.name)):010}"
    shared: dict[str, str | int] = {
        "postal": "100-0001",
        "phone": "03-0000-0001",
        "registration_number": f"T{check_digit(digits)}{digits}",
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
    return {"ja": japanese, "en": english} if reseller is AOZORA else {"ja": japanese}


def accounts_of(reseller: Reseller) -> Iterator[CloudAccount]:
    """Each customer's, vendor by vendor."""
    places = enumerate(reseller.customers, start=FIRST_PLACES[reseller.username])
    for place, customer in places:
        for vendor, cloud in customer.clouds.items():
            for number in range(cloud.accounts):
                yield _account(reseller, customer, place, vendor, number)


def _account(
    reseller: Reseller, customer: Customer, place: int, vendor: str, number: int
) -> CloudAccount:
    if number < len(KINDS):
        begins, ends, japanese, english, _ = KINDS[number]
    else:
        begins, japanese, english, _ = MORE
        department = number - len(KINDS) + 1
        ends = f"{department:04}"
        japanese, english = f"{japanese}{department:02}", f"{english} {department:02}"
    subscription = str(uuid5(NAMESPACE_URL, f"{customer.company_name} {number}"))
    return CloudAccount(
        vendor=vendor,
        customer_id=f"{begins}{place:06}{ends}" if vendor == "aws" else subscription,
        account_id=reseller.payers[vendor],
        name=f"{customer.name} {english if customer.language == 'en' else japanese}",
        customer=customer,
        number=number,
    )


def weight(number: int) -> int:
    """An account's part in what its customer spends."""
    return KINDS[number][-1] if number < len(KINDS) else MORE[-1]


def production_of(reseller: Reseller, billinggroup_id: str, vendor: str) -> CloudAccount:
    """The first account of a customer."""
    return next(
        account
        for account in accounts_of(reseller)
        if account.customer.billinggroup_id == billinggroup_id and account.vendor == vendor
    )
