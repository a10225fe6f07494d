"""Amounts of more than 28 digits, which Python's decimals round unless they are told not to."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from nimbill.foundation import exact_json
from tests.imports.aws_reports import PAYER, report_line
from tests.invoicing.exports.export_requests import (
    create_month_link,
    download_content,
    parse_rows,
)
from tests.invoicing.month_end import MONTH, MonthEnd

ACCOUNT = "000000000001"
COST = "8888888888888888.1234567890123456789012"  # 38 digits
SUM = Decimal("17777777777777776.2469135780246913578024")  # of two lines: 39 digits
LAST_DIGIT = Decimal("1e-22")
# only the charge itself: no discount, fees or tax
PLAIN_TERMS = {
    "discount_rate": 0,
    "substitution_rate": 0,
    "support_fee": "percent",
    "support_rate": 0,
    "tax_rate": 0,
}


def create_invoice(month_end: MonthEnd, *costs: str, rate: str, **terms: Any) -> str:
    company_id = month_end.create_group("BG-1", ACCOUNT)
    import_costs(month_end, *costs)
    month_end.save_settings(company_id, **PLAIN_TERMS | terms)
    assert month_end.save_rate(company_id, rate=Decimal(rate)).status_code == 200
    response = month_end.create_invoices(company_id)
    assert response.status_code == 200, response.text
    return company_id


def import_costs(month_end: MonthEnd, *costs: str) -> None:
    lines = [report_line(cost, UsageAccountId=ACCOUNT) for cost in costs]
    assert month_end.import_costs(*lines)["state"] == "done"


def get_exactly(month_end: MonthEnd, path: str) -> Any:
    response = month_end.get(path)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def round_half_up(amount: Fraction) -> int:
    return int(amount + Fraction(1, 2))


def test_sums_keep_every_digit(month_end: MonthEnd) -> None:
    import_costs(month_end, COST, COST)

    costs = get_exactly(month_end, f"/costs/{MONTH}?by=account")

    assert [row["cost"] for row in costs["rows"]] == [SUM]
    assert [total["cost"] for total in costs["totals"]] == [SUM]


def test_an_invoice_keeps_every_digit_of_its_costs(month_end: MonthEnd) -> None:
    rate = "999999.123456789012"
    company_id = create_invoice(month_end, COST, COST, rate=rate)

    invoice = month_end.get_invoice(company_id)

    assert [charge["amount"] for charge in invoice["charges"]["usage"]] == [SUM]
    assert [charge["amount"] for charge in invoice["stock"]] == [SUM]
    yen = round_half_up(Fraction(SUM) * Fraction(rate))
    assert len(str(yen)) == 23
    assert invoice["sheet"]["total"] == yen


def test_an_amount_just_below_half_is_rounded_down(month_end: MonthEnd) -> None:
    """With 28 digits it would become exactly half, and be rounded up."""
    company_id = create_invoice(month_end, "8888888888888888.4999999999999999999999", rate="1")

    assert month_end.get_invoice(company_id)["sheet"]["total"] == Decimal(8888888888888888)


def test_tax_just_below_half_is_rounded_down(month_end: MonthEnd) -> None:
    """The tax is one tenth of an amount of 30 digits."""
    item = Decimal(123456789012345678901234567894)
    company_id = month_end.create_group("BG-1", ACCOUNT)
    add_item(month_end, company_id, item)
    import_costs(month_end, "0")
    month_end.save_settings(company_id, **PLAIN_TERMS | {"tax_rate": Decimal("0.1")})
    month_end.save_rate(company_id)

    assert month_end.create_invoices(company_id).status_code == 200

    sheet = month_end.get_invoice(company_id)["sheet"]
    tax = round_half_up(Fraction(item) / 10)
    assert (sheet["pre_tax"], sheet["tax"], sheet["total"]) == (item, tax, int(item) + tax)
    assert get_total_row(month_end)[-4:] == [str(item), "0", str(tax), str(int(item) + tax)]
    (group,) = get_exactly(month_end, f"/invoices/{MONTH}")["billinggroup"]
    assert group["total"]["aws"] == int(item) + tax
    (listed,) = get_exactly(month_end, f"/invoice/{MONTH}/details")["billing_groups"]
    assert listed["total_amount_exchanged"] == int(item) + tax


def add_item(month_end: MonthEnd, company_id: str, amount: Decimal) -> None:
    item = {"enabled": True, "label": "x", "unit_cost": amount, "quantity": 1, "total": amount}
    path = f"/billinggroup/{company_id}/freeformat/aws"
    response = month_end.post(path, {"additional_items": [item]})
    assert response.status_code == 200, response.text


def get_total_row(month_end: MonthEnd) -> list[str]:
    link = create_month_link(month_end.service, "invoice_account", MONTH)
    rows: list[list[str]] = parse_rows(download_content(month_end.service, link))
    return rows[-1]


def test_the_csv_file_keeps_every_digit(month_end: MonthEnd) -> None:
    rate = "999999.123456789012"
    create_invoice(month_end, COST, COST, rate=rate)

    yen = str(round_half_up(Fraction(SUM) * Fraction(rate)))

    assert get_total_row(month_end)[-7:] == [yen, yen, yen, "0", "0", "0", yen]


def test_the_tie_out_keeps_every_digit(month_end: MonthEnd) -> None:
    create_invoice(month_end, COST, COST, rate="1")

    tie_out = get_exactly(month_end, f"/invoices/tie-out/{MONTH}?vendor=aws")

    (payer,) = tie_out["payers"]
    assert tie_out["ties"] is True
    assert (payer["payer_id"], payer["total"], payer["invoiced"]) == (PAYER, SUM, SUM)
    assert payer["difference"] == 0


def test_the_tie_out_finds_a_difference_in_the_last_of_39_digits(month_end: MonthEnd) -> None:
    create_invoice(month_end, COST, COST, rate="1")
    import_costs(month_end, COST, COST[:-1] + "3")

    tie_out = get_exactly(month_end, f"/invoices/tie-out/{MONTH}?vendor=aws")

    assert tie_out["ties"] is False
    (difference,) = tie_out["differences"]
    assert difference["difference"] == LAST_DIGIT
    assert (difference["invoiced"], difference["counts"]) == (
        SUM,
        Decimal("17777777777777776.2469135780246913578025"),
    )
