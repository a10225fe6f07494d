"""Names, rates, explanations and sources on an invoice sheet."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec.structs import replace

from nimbill.foundation.currency import Currency
from nimbill.invoicing.calculation.charges import FreeItem, MonthlyCharges
from nimbill.invoicing.calculation.sheet import (
    AccountEntry,
    Explanation,
    InvoiceSheet,
    calculate_invoice,
)
from tests.invoicing.invoice_builders import build_charge, build_entry, build_terms

CLOUD = build_charge("100")
MARKET = build_charge("500", service="Firewall", marketplace=True)
OTHER = build_charge("20", account="222222222222")
FEE = build_entry("10", entry_id="fee", exchange_rate="120")
CREDIT = build_entry("-5", entry_id="credit", account="222222222222", calc_type="Credit")


def item(total: str, *, enabled: bool = True) -> FreeItem:
    return FreeItem(
        enabled=enabled,
        label="Consulting",
        unit_cost=Decimal("2.5"),
        quantity=Decimal(4),
        total=Decimal(total),
    )


MONTH = MonthlyCharges(
    cost_currency=Currency.usd,
    usage=(CLOUD, MARKET, OTHER),
    entries=(FEE, CREDIT),
    items=(item("1", enabled=False), item("10")),
)


def calculate(**differing: object) -> InvoiceSheet:
    return calculate_invoice(MONTH, build_terms(**differing))


def list_fee_explanations(sheet: InvoiceSheet) -> tuple[Explanation, Explanation]:
    assert sheet.support is not None
    assert sheet.agency is not None
    return sheet.support.why, sheet.agency.why


def test_a_fee_names_the_lines_and_entries_of_its_base() -> None:
    support, agency = list_fee_explanations(
        calculate(
            support_fee="percent",
            support_rate=Decimal("0.1"),
            support_amount_target="cloudpayonlywithfee",
            substitution_rate=Decimal("0.1"),
            substitution_scope="cloudpaywithfee",
        )
    )

    assert support == Explanation(
        rule="support_percent",
        base=Decimal(130),
        base_currency=Currency.usd,
        working="0.1 × 130 = 13",
        sources=("111111111111 AmazonEC2", "222222222222 AmazonEC2", "fee"),
    )
    assert agency == Explanation(
        rule="agency_percent",
        base=Decimal(633),
        base_currency=Currency.usd,
        working="0.1 × 633 = 63.3",
        sources=(
            "111111111111 AmazonEC2",
            "111111111111 Firewall marketplace",
            "222222222222 AmazonEC2",
            "support fee",
        ),
    )


@pytest.mark.parametrize(
    ("products", "name"),
    [
        ((), "Firewall"),
        (("Wall",), "Wall"),
        (("A", "B", "C"), "A, B, C"),
        (("A", "B", "C", "D", "E"), "A, B, C (+2)"),
    ],
)
def test_a_line_is_named_after_its_products_or_its_service(
    products: tuple[str, ...], name: str
) -> None:
    charges = replace(MONTH, usage=(replace(MARKET, products=products),))

    (line,) = calculate_invoice(charges, build_terms()).lines

    assert (line.name, line.products) == (name, products)


def test_the_products_of_all_accounts_of_a_tag_are_named_once() -> None:
    charges = [
        replace(MARKET, products=("B", "A")),
        replace(MARKET, customer_id="2", products=("B",)),
    ]
    month = replace(MONTH, usage=tuple(charges), entries=())

    (line,) = calculate_invoice(month, build_terms(calc_type="tag")).lines

    assert line.products == ("A", "B")


def test_the_agency_fee_names_the_support_fee_only_if_it_is_in_the_base() -> None:
    _, agency = list_fee_explanations(calculate(substitution_rate=Decimal("0.1")))

    assert "support fee" not in agency.sources
    assert len(agency.sources) == 3


def test_a_fixed_fee_has_neither_base_nor_sources() -> None:
    why = list_fee_explanations(
        calculate(
            support_fix=Decimal("12.34"),
            discount_rate=Decimal("0.5"),
            discount_target_usage="cloudpaywithfee",
            substitution_fee="fix",
            substitution_fix=Decimal(3),
            substitution_fee_calc_type="account",
            currency=Currency.jpy,
        )
    )

    assert why == (
        Explanation(rule="support_fix", working="12.34 × (1 - 0.5) × 100 = 617"),
        Explanation(rule="agency_fix", working="(3 + 3) × 100 = 600"),
    )


def test_a_support_plan_on_yen_shows_the_conversion() -> None:
    month = MonthlyCharges(cost_currency=Currency.jpy, usage=(build_charge("1200000"),))

    sheet = calculate_invoice(month, build_terms(support_fee="aws_business", currency=Currency.jpy))

    assert sheet.support is not None
    assert sheet.support.why.working == "max(100, 0.10 × 10000 + 0.07 × 2000) × 100 = 114000"


@pytest.mark.parametrize(
    ("currency", "rates", "workings"),
    [
        (Currency.usd, [None, None], ["10 = 10", "-5 = -5"]),
        (Currency.jpy, [Decimal(120), Decimal(100)], ["10 × 120 = 1200", "-5 × 100 = -500"]),
    ],
)
def test_an_entry_shows_its_exchange_rate(
    currency: Currency, rates: list[Decimal | None], workings: list[str]
) -> None:
    sheet = calculate(currency=currency)

    assert [line.exchange_rate for line in sheet.entries] == rates
    assert [line.why.working for line in sheet.entries] == workings
    assert [line.original for line in sheet.entries] == [Decimal(10), Decimal(-5)]
    assert {line.original_currency for line in sheet.entries} == {Currency.usd}
    assert [line.customer_name for line in sheet.entries] == [
        "account 111111111111",
        "account 222222222222",
    ]


def test_an_item_keeps_its_position_in_the_free_format() -> None:
    (line,) = calculate().items

    assert (line.label, line.unit_cost, line.quantity) == ("Consulting", Decimal("2.5"), Decimal(4))
    assert line.why == Explanation(
        rule="free_format",
        base=Decimal(10),
        base_currency=Currency.usd,
        working="10 = 10",
        sources=("free format 2",),
    )


def test_a_line_names_its_account_or_its_tag() -> None:
    by_account, by_tag = calculate(), calculate(calc_type="tag")

    assert {(line.customer_id, line.customer_name, line.tag) for line in by_account.lines} == {
        ("111111111111", "account 111111111111", ""),
        ("222222222222", "account 222222222222", ""),
    }
    assert {(line.customer_id, line.customer_name, line.tag) for line in by_tag.lines} == {
        ("", "", "")
    }
    assert by_tag.lines[0].why.sources == ("111111111111 AmazonEC2", "222222222222 AmazonEC2")
    assert by_tag.lines[0].cost == 120


def test_tags_do_not_split_the_lines_of_an_invoice_by_account() -> None:
    month = replace(MONTH, usage=tuple(replace(CLOUD, tag=tag) for tag in ("prod", "", "test")))

    (line,) = calculate_invoice(month, build_terms()).lines

    assert (line.cost, line.tag) == (Decimal(300), "")


def test_entries_of_an_account_are_listed_in_dollars_and_as_printed() -> None:
    yen = build_entry("1205", entry_id="yen", currency=Currency.jpy, exchange_rate="120.5")
    month = replace(MONTH, entries=(yen, FEE))

    (first, _) = calculate_invoice(month, build_terms(currency=Currency.jpy)).accounts

    assert first.entries == (
        AccountEntry("Fee of the vendor", Decimal("10.00"), Decimal(1200)),
        AccountEntry("Fee of the vendor", Decimal("10.00"), Decimal(1205)),
    )
    assert (first.total, first.total_exchanged) == (Decimal(620), Decimal(62405))


def test_an_account_with_two_names_is_one_account() -> None:
    """Records may have an outdated name; the name shown does not depend on the input order."""
    renamed = replace(CLOUD, customer_name="another name")
    month = replace(MONTH, usage=(CLOUD, renamed), entries=())

    for usage in (month.usage, month.usage[::-1]):
        sheet = calculate_invoice(replace(month, usage=usage), build_terms())
        assert [(account.customer_name, account.total) for account in sheet.accounts] == [
            ("account 111111111111", Decimal(200))
        ]
        assert [line.customer_name for line in sheet.lines] == ["account 111111111111"]


def test_sums_show_their_summands() -> None:
    sheet = calculate(tax_rate=Decimal("0.1"))

    assert (sheet.pre_tax, sheet.tax, sheet.total) == (
        Decimal(635),
        Decimal("63.5"),
        Decimal("698.5"),
    )
    assert sheet.pre_tax_why == Explanation(
        rule="pre_tax", base_currency=Currency.usd, working="620.00 + 0.00 + 5.00 + 10.00"
    )
    assert sheet.tax_why == Explanation(
        rule="tax",
        base=Decimal(635),
        base_currency=Currency.usd,
        working="635.00 × 0.1 = 63.5",
    )
    assert sheet.total_why == Explanation(
        rule="total", base_currency=Currency.usd, working="635.00 + 63.50"
    )


def test_the_amount_in_dollars_has_usage_fees_entries_and_items() -> None:
    """620 of usage, 62 of support fee, entries of 10 and -5, and an item of 1500 yen."""
    terms = build_terms(
        currency=Currency.jpy,
        exchange_rate=Decimal(150),
        discount_rate=Decimal(0),
        support_fee="percent",
        support_rate=Decimal("0.1"),
    )

    sheet = calculate_invoice(replace(MONTH, items=(item("1500"),)), terms)

    assert sheet.pre_tax_usd == Decimal("697.00")
