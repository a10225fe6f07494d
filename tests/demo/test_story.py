"""The story is sound by the service's own rules, and as large and as varied as it is told."""

import re
from decimal import Decimal

import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED, broken_in
from nimbill.customers.cloud_accounts.account_number_rules import number_violations
from nimbill.customers.invoice_templates.registration_number_rules import registration_number_stands
from nimbill.customers.organisation_settings.usage_table_rules import usage_table_violations
from nimbill.demo.accounts import DemoLogin
from nimbill.demo.calling import DemoError
from nimbill.demo.chapters import chapters_of
from nimbill.demo.contract_terms import USAGE_TABLE, USUAL_TERMS, terms
from nimbill.demo.fixtures import TAG_KEY, accounts_of, projects_of, templates_of
from nimbill.demo.seeding import refuse_another_story
from nimbill.demo.story import AOZORA, RESELLERS
from nimbill.demo.story_months import (
    AGREED_FOR_A_MONTH,
    CLOSED,
    CURRENT,
    ENTRIES,
    ITEMS,
    MONTHS,
    MOVES,
    OPEN,
    RATES,
    RESERVATIONS,
    last_months,
)
from nimbill.demo.vendor_files.months import Kind
from nimbill.demo.vendor_files.products import TAG_KEYS

SETTINGS = [
    (customer, vendor, setting)
    for reseller in RESELLERS
    for customer in reseller.customers
    for vendor, setting in customer.invoices.items()
]


def test_every_setting_has_every_field_and_breaks_no_rule() -> None:
    for customer, vendor, setting in SETTINGS:
        assert list(broken_in({vendor: dict(setting)}, on="create")) == [], customer.name
        assert list(setting) == list(ALLOWED)
    assert list(usage_table_violations(list(USAGE_TABLE))) == []


def test_ids_are_unique_within_a_reseller_and_accounts_everywhere() -> None:
    for reseller in RESELLERS:
        ids = [customer.billinggroup_id for customer in reseller.customers]
        assert len(set(ids)) == len(ids)
    accounts = [account for reseller in RESELLERS for account in accounts_of(reseller)]
    assert len({account.customer_id for account in accounts}) == len(accounts)
    for account in accounts:
        sent = {"vendor": account.vendor, "customer_id": account.customer_id}
        assert list(number_violations(sent, "customer_id")) == []


def test_it_is_as_large_as_a_reseller() -> None:
    accounts = list(accounts_of(AOZORA))

    assert len(AOZORA.customers) == 40
    assert len(accounts) == 200
    assert {account.vendor for account in accounts} == {"aws", "azure"}
    assert len(MONTHS) == 13
    assert (CLOSED[-1], OPEN, CURRENT) == MONTHS[-3:]
    assert len(set(RATES.values())) == len(MONTHS)


@pytest.mark.parametrize("field", ["calc_type", "currency", "substitution_fee", "support_fee"])
def test_every_word_that_changes_an_invoice_is_used_somewhere(field: str) -> None:
    allowed = {str(word) for word in re.findall(r"\w+", str(ALLOWED[field].create))}
    used = {str(setting[field]) for _, _, setting in SETTINGS}

    assert used == allowed - {"one", "of"}


def test_customers_differ_in_language_in_vendors_and_in_how_they_are_sent_invoices() -> None:
    both = [one for one in AOZORA.customers if len(one.clouds) == 2]

    assert {one.language for one in AOZORA.customers} == {"ja", "en"}
    assert {one.inv_aggregate for one in both} == {True, False}
    assert {one.language for one in both if one.inv_aggregate} == {"ja", "en"}


def test_a_tag_that_is_billed_by_stands_in_the_files() -> None:
    remarks = [one.remarks for reseller in RESELLERS for one in reseller.customers if one.remarks]
    named = {tag for remark in remarks for tag in re.findall("タグ「(.+?)」", remark)}

    assert named == {TAG_KEY}
    assert TAG_KEY in TAG_KEYS


def test_templates_bear_a_registration_number_that_stands() -> None:
    for reseller in RESELLERS:
        for template in templates_of(reseller).values():
            assert registration_number_stands(str(template["registration_number"]))
    assert len(templates_of(AOZORA)) == 2


def test_whatever_is_told_of_a_customer_is_told_of_one_there_is() -> None:
    clouds = {(one.billinggroup_id, vendor) for one in AOZORA.customers for vendor in one.clouds}
    groups = {group for group, _ in clouds}

    assert {(one.billinggroup_id, one.vendor) for one in ENTRIES} <= clouds
    assert clouds >= ITEMS.keys()
    assert {(group, vendor) for _, group, vendor in AGREED_FOR_A_MONTH} <= clouds
    assert {move.owner for move in MOVES} <= RESERVATIONS.keys()
    assert {(move.neighbour, "aws") for move in MOVES} <= clouds
    for project in projects_of(AOZORA):
        assert groups.issuperset(project.billing_groups)


def test_entries_are_of_each_kind_some_applied_one_tax_free_and_some_left() -> None:
    assert {entry.calc_type for entry in ENTRIES} == {"Fee", "Credit", "Refund"}
    assert {entry.kind for entry in ENTRIES} <= {kind.name for kind in Kind}
    assert [entry.applied_in for entry in ENTRIES if entry.tax_free] == [OPEN]
    assert {entry.applied_in is None for entry in ENTRIES} == {True, False}
    assert all(entry.applied_in >= entry.month for entry in ENTRIES if entry.applied_in)


def test_amounts_are_exact() -> None:
    changed = terms(discount_rate="0.075", currency="usd")

    assert changed["discount_rate"] == Decimal("0.075")
    assert changed["currency"] == "usd"
    assert USUAL_TERMS["discount_rate"] == Decimal("0.05")


def test_more_months_add_chapters_and_leave_the_others_as_they_were() -> None:
    few, all_ = (chapters_of(AOZORA, last_months(count)) for count in (3, 13))

    assert few.months_before == {}
    assert [*few.beginning, *few.last_months] == [*all_.beginning, *all_.last_months]
    told = [name.rpartition(" ")[2] for name in all_.months_before if "invoices of" in name]
    assert told == list(MONTHS[:-3])


def test_data_of_an_earlier_story_is_not_gone_on_with() -> None:
    account = DemoLogin(**dict.fromkeys(DemoLogin.__slots__[:-1], ""), told=["billing groups"])
    accounts = {reseller.english_name: account for reseller in RESELLERS}
    refuse_another_story(accounts)

    account.told.append("decisions on costs")

    with pytest.raises(DemoError, match="told another story"):
        refuse_another_story(accounts)
