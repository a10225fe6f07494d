"""The story is sound by the service's own rules, and big enough to look at."""

import re
from decimal import Decimal

from nimbill.billing_groups.invoice_setting_rules import ALLOWED, broken_in
from nimbill.demo.story import AOZORA, RESELLERS, USUAL_TERMS, terms
from nimbill.demo.vendor_products import TAG_KEYS


def test_every_setting_has_every_field_and_breaks_no_rule() -> None:
    for reseller in RESELLERS:
        for customer in reseller.customers:
            settings = {vendor: dict(setting) for vendor, setting in customer.invoices.items()}

            assert settings, customer.name
            assert list(broken_in(settings, on="create")) == []
            assert all(list(setting) == list(ALLOWED) for setting in settings.values())


def test_ids_are_unique_within_a_reseller() -> None:
    for reseller in RESELLERS:
        ids = [customer.billinggroup_id for customer in reseller.customers]

        assert len(set(ids)) == len(ids)


def test_terms_vary() -> None:
    settings = [
        tuple(setting.items())
        for customer in AOZORA.customers
        for setting in customer.invoices.values()
    ]

    assert len(AOZORA.customers) == 12
    assert len(set(settings)) >= 8
    assert {vendor for customer in AOZORA.customers for vendor in customer.invoices} == {
        "aws",
        "azure",
    }


def test_a_tag_that_is_billed_by_stands_in_the_files() -> None:
    remarks = [one.remarks for reseller in RESELLERS for one in reseller.customers if one.remarks]
    named = {tag for remark in remarks for tag in re.findall("タグ「(.+?)」", remark)}

    assert named
    assert named <= set(TAG_KEYS)


def test_amounts_are_exact() -> None:
    changed = terms(discount_rate="0.075", currency="usd")

    assert changed["discount_rate"] == Decimal("0.075")
    assert changed["currency"] == "usd"
    assert USUAL_TERMS["discount_rate"] == Decimal("0.05")
