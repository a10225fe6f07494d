"""What the resellers keep beside their customers: projects, a template, accounts, people."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from nimbill.demo.story import AOZORA, Customer, Reseller
from nimbill.invoice_templates.registration_number_rules import check_digit

AWS_PAYER, AZURE_PAYER = "200000000009", "8611537"


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


@dataclass(frozen=True, slots=True)
class Person:
    """A subuser; what he may do in core, and of which groups where that is not all of them."""

    username: str
    role: str
    permissions: tuple[str, ...]
    billing_groups: tuple[str, ...] = ()


PROJECTS = (
    Project("EAST", "東日本営業部", "jpy", ("BG-0003", "BG-0004", "BG-0008", "BG-0010", "BG-0011")),
    Project("WEST", "西日本営業部", "jpy", ("BG-0001", "BG-0002", "BG-0005", "BG-0006")),
    Project("GLOBAL", "海外取引", "usd", ("BG-0012",)),
)
PEOPLE = (
    Person("keiri", "billing-clerk", ("ModifyBillingGroup", "ModifyAccount", "ReadProject")),
    Person("kansai", "kansai-reader", ("ReadBillingGroup", "ReadAccount"), ("BG-0002", "BG-0006")),
)
# who looks into the portal, and what he is not shown there
PORTAL_LOGINS = {"BG-0001": "hinata@demo.invalid", "BG-0003": "akatsuki@demo.invalid"}


def projects_of(reseller: Reseller) -> tuple[Project, ...]:
    return PROJECTS if reseller is AOZORA else ()


def template_of(reseller: Reseller) -> dict[str, str]:
    """The issuer as printed on its invoices; the number is invented, its check digit is right."""
    digits = f"99{sum(map(ord, reseller.name)):010}"
    return {
        "name": "標準",
        "company": f"株式会社{reseller.name}",
        "postal": "100-0001",
        "address": "東京都千代田区千代田9-98",
        "phone": "03-0000-0001",
        "registration_number": f"T{check_digit(digits)}{digits}",
        "bank_account": "あおば銀行 本店 普通 0000001",
        "due_rule": "end_of_next_month",
        "accent_colour": "#1F6FB2",
    }


def accounts_of(customer: Customer, place: int) -> Iterator[CloudAccount]:
    """A production account for each of its vendors, and at AWS one for development too."""
    for vendor in customer.invoices:
        if vendor == "aws":
            yield CloudAccount("aws", f"01{place:06}0017", AWS_PAYER, f"{customer.name} 本番")
            yield CloudAccount("aws", f"20{place:06}0025", AWS_PAYER, f"{customer.name} 開発")
        else:
            subscription = str(uuid5(NAMESPACE_URL, customer.company_name))
            yield CloudAccount("azure", subscription, AZURE_PAYER, f"{customer.name} 本番")
