"""A printed invoice shows the stored texts of its billing group and the issuer of its template."""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest

from tests.customers.invoice_templates.templates import create_template
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace
from tests.running_service import Service

# every text is different, so that one in the place of another is noticed
GROUPS: Mapping[str, Mapping[str, str]] = {
    "english": {
        "language": "en",
        "billing_title": "Cloud statement",
        "company_name": "Maple Works Ltd",
        "personal": "Ms Baker",
        "postal": "530-0001",
        "address": "10 Umeda, Osaka",
        "phone": "06-0000-0200",
        "remarks": "Order 4500012345",
    },
    "japanese": {
        "language": "ja",
        "billing_title": "クラウド利用明細書",
        "company_name": "さくら製作所株式会社",
        "personal": "髙橋 明子",
        "postal": "600-8216",
        "address": "京都府京都市下京区烏丸通七条下る",
        "phone": "075-000-0300",
        "remarks": "注文番号 770001",
    },
    "plain": {"company_name": "Plain Ltd"},
}
ISSUERS: Mapping[str, Mapping[str, Any]] = {
    "own": {
        "name": "own",
        "company": "Minato Cloud Inc.",
        "postal": "105-0001",
        "address": "9 Toranomon, Tokyo",
        "phone": "03-0000-0100",
        "contact": "Accounts receivable",
        "registration_number": "T7000012050002",
        "bank_account": "Mirai Bank 1234567",
        "notes": "Please pay the bank fee.",
        "due_rule": "days",
        "due_days": 45,
    },
    "default": {
        "name": "default",
        "company": "株式会社みらいクラウド",
        "postal": "810-0001",
        "address": "福岡県福岡市中央区天神一丁目",
        "phone": "092-000-0400",
        "contact": "経理部 請求担当",
        "registration_number": "T8000012010038",
        "bank_account": "ひかり銀行 普通 7654321",
        "notes": "振込手数料はご負担ください。",
        "due_rule": "end_of_next_month",
        "due_days": None,
    },
}
# the template of each group; the last two have none of their own
TEMPLATE_OF = {"english": "own", "japanese": "default", "plain": "default"}


@dataclass(frozen=True)
class PrintedInvoice:
    """An invoice as it is stored, and the text of its PDF without white space."""

    stored: Mapping[str, Any]
    text: str

    def lacks(self, *texts: str) -> list[str]:
        return [text for text in texts if remove_whitespace(text) not in self.text]

    def shows(self, *texts: str) -> list[str]:
        return [text for text in texts if remove_whitespace(text) in self.text]


@pytest.fixture(scope="module")
def printed(
    running: Service, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, PrintedInvoice]:
    """The invoices of all groups. The organisation's language is English."""
    running.organisation = running.new_organisation()
    month_end = MonthEnd(running, tmp_path_factory.mktemp("costs"))
    own = create_template(running, **ISSUERS["own"])
    default = create_template(running, **ISSUERS["default"])
    settings = {"invoice_template_id": default, "language": "en"}
    assert month_end.put("/settings", settings).status_code == 200
    numbers = {name: f"00000000000{number}" for number, name in enumerate(GROUPS)}
    groups = {
        name: month_end.create_group(
            name,
            numbers[name],
            **texts,
            **({"invoice_template_id": own} if TEMPLATE_OF[name] == "own" else {}),
        )
        for name, texts in GROUPS.items()
    }
    month_end.import_costs(*(report_line("10", UsageAccountId=n) for n in numbers.values()))
    month_end.prepare_groups(*groups.values())
    assert month_end.create_invoices().status_code == 200
    return {name: print_invoice(month_end, company_id) for name, company_id in groups.items()}


def print_invoice(month_end: MonthEnd, company_id: str) -> PrintedInvoice:
    response = month_end.get(f"/invoices/{MONTH}/{company_id}/aws/pdf")
    assert response.status_code == 200, response.text
    text = remove_whitespace(extract_text(response.content))
    return PrintedInvoice(month_end.get_invoice(company_id), text)


def list_texts(fields: Mapping[str, Any], *without: str) -> list[str]:
    return [value for name, value in fields.items() if value and name not in without]


@pytest.mark.parametrize("name", GROUPS)
def test_title_addressee_address_and_remarks_are_those_of_the_group(
    printed: dict[str, PrintedInvoice], name: str
) -> None:
    own = list_texts(GROUPS[name], "language")
    others = [
        text
        for other, texts in GROUPS.items()
        if other != name
        for text in list_texts(texts, "language")
    ]

    assert printed[name].lacks(*own) == []
    assert printed[name].shows(*others) == []


@pytest.mark.parametrize("name", GROUPS)
def test_the_issuer_is_that_of_the_groups_template_or_of_the_organisations_default(
    printed: dict[str, PrintedInvoice], name: str
) -> None:
    own = TEMPLATE_OF[name]
    (other,) = ISSUERS.keys() - {own}
    not_printed = ("name", "due_rule", "due_days")

    assert printed[name].lacks(*list_texts(ISSUERS[own], *not_printed)) == []
    assert printed[name].shows(*list_texts(ISSUERS[other], *not_printed)) == []


@pytest.mark.parametrize(
    ("name", "label", "other_label"),
    [
        ("english", "Total due", "ご請求金額"),
        ("japanese", "ご請求金額", "Total due"),
        ("plain", "Total due", "ご請求金額"),  # the organisation's language
    ],
)
def test_the_language_is_that_of_the_group_or_of_the_organisation(
    printed: dict[str, PrintedInvoice], name: str, label: str, other_label: str
) -> None:
    assert printed[name].lacks(label) == []
    assert printed[name].shows(other_label) == []


def test_the_title_of_the_language_is_printed_for_a_group_without_one(
    printed: dict[str, PrintedInvoice],
) -> None:
    assert printed["plain"].text.startswith("Invoice")
    assert printed["english"].text.startswith("Cloudstatement")


def test_the_due_date_follows_the_rule_of_the_template(
    printed: dict[str, PrintedInvoice],
) -> None:
    issued = date.fromisoformat(printed["english"].stored["issue_date"])
    after_days = issued + timedelta(days=45)
    year, month = issued.year + issued.month // 12, issued.month % 12 + 1
    last_day = calendar.monthrange(year, month)[1]

    assert printed["english"].lacks(f"Payment due {after_days.day} {after_days:%B %Y}") == []
    assert printed["japanese"].lacks(f"お支払期限 {year}年{month}月{last_day}日") == []
