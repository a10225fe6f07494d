"""The seed data obeys the rules of the service and covers its features."""

import re
from decimal import Decimal

import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import (
    ALLOWED_VALUES,
    find_violations_by_vendor,
)
from nimbill.customers.cloud_accounts.account_number_rules import find_number_violations
from nimbill.customers.contacts.contact_rules import find_contact_violations
from nimbill.customers.invoice_templates.registration_number_rules import (
    is_registration_number_valid,
)
from nimbill.customers.organisation_settings.usage_table_rules import find_usage_table_violations
from nimbill.demo.api_client import DemoError
from nimbill.demo.contract_terms import USAGE_TABLE, USUAL_TERMS, terms
from nimbill.demo.fixtures import (
    CONTACTS,
    MAILED_CUSTOMERS,
    TAG_KEY,
    invoice_templates,
    list_cloud_accounts,
    list_projects,
)
from nimbill.demo.logins import DemoLogin
from nimbill.demo.monthly_data import (
    CLOSED_MONTHS,
    CURRENT_MONTH,
    EXCHANGE_RATES,
    FREE_FORMAT_ITEMS,
    MONTHLY_OVERRIDES,
    MONTHS,
    ONE_OFF_CHARGES,
    OPEN_MONTH,
    RESERVATION_FEES,
    RESERVED_INSTANCE_MOVES,
    UNPAID,
    last_months,
)
from nimbill.demo.resellers import AOZORA, RESELLERS
from nimbill.demo.seed_steps import CREDITED, build_seed_plan
from nimbill.demo.seeding import refuse_other_seed_data
from nimbill.demo.sending_steps import CORRECTED_TERMS
from nimbill.demo.vendor_files.charges import ChargeKind
from nimbill.demo.vendor_files.products import TAG_KEYS

SETTINGS = [
    (customer, vendor, setting)
    for reseller in RESELLERS
    for customer in reseller.customers
    for vendor, setting in customer.invoices.items()
]


def test_every_invoice_setting_is_complete_and_valid() -> None:
    for customer, vendor, setting in SETTINGS:
        violations = find_violations_by_vendor({vendor: dict(setting)}, column="create")
        assert list(violations) == [], customer.name
        assert list(setting) == list(ALLOWED_VALUES)
    assert list(find_usage_table_violations(list(USAGE_TABLE))) == []


def test_group_ids_are_unique_per_reseller_and_account_numbers_overall() -> None:
    for reseller in RESELLERS:
        ids = [customer.billinggroup_id for customer in reseller.customers]
        assert len(set(ids)) == len(ids)
    accounts = [account for reseller in RESELLERS for account in list_cloud_accounts(reseller)]
    assert len({account.customer_id for account in accounts}) == len(accounts)
    for account in accounts:
        body = {"vendor": account.vendor, "customer_id": account.customer_id}
        assert list(find_number_violations(body, "customer_id")) == []


def test_the_first_reseller_has_forty_customers_and_thirteen_months() -> None:
    accounts = list(list_cloud_accounts(AOZORA))

    assert len(AOZORA.customers) == 40
    assert len(accounts) == 200
    assert {account.vendor for account in accounts} == {"aws", "azure"}
    assert len(MONTHS) == 13
    assert (CLOSED_MONTHS[-1], OPEN_MONTH, CURRENT_MONTH) == MONTHS[-3:]
    assert len(set(EXCHANGE_RATES.values())) == len(MONTHS)


@pytest.mark.parametrize("field", ["calc_type", "currency", "substitution_fee", "support_fee"])
def test_every_allowed_value_of_an_invoice_setting_is_used(field: str) -> None:
    allowed = {str(word) for word in re.findall(r"\w+", str(ALLOWED_VALUES[field].create))}
    used = {str(setting[field]) for _, _, setting in SETTINGS}

    assert used == allowed - {"one", "of"}


def test_customers_differ_in_language_vendors_and_combined_invoices() -> None:
    with_two_vendors = [customer for customer in AOZORA.customers if len(customer.contracts) == 2]
    combined = [customer for customer in with_two_vendors if customer.inv_aggregate]

    assert {customer.language for customer in AOZORA.customers} == {"ja", "en"}
    assert {customer.inv_aggregate for customer in with_two_vendors} == {True, False}
    assert {customer.language for customer in combined} == {"ja", "en"}


def test_the_tag_named_in_remarks_appears_in_the_cost_files() -> None:
    remarks = [
        customer.remarks
        for reseller in RESELLERS
        for customer in reseller.customers
        if customer.remarks
    ]
    tags = {tag for remark in remarks for tag in re.findall("タグ「(.+?)」", remark)}

    assert tags == {TAG_KEY}
    assert TAG_KEY in TAG_KEYS


def test_invoice_templates_have_valid_registration_numbers() -> None:
    for reseller in RESELLERS:
        for template in invoice_templates(reseller).values():
            assert is_registration_number_valid(str(template["registration_number"]))
    assert len(invoice_templates(AOZORA)) == 3


def test_monthly_data_refers_to_existing_customers() -> None:
    contracts = {
        (customer.billinggroup_id, vendor)
        for customer in AOZORA.customers
        for vendor in customer.contracts
    }
    groups = {group for group, _ in contracts}

    assert {(charge.billinggroup_id, charge.vendor) for charge in ONE_OFF_CHARGES} <= contracts
    assert contracts >= FREE_FORMAT_ITEMS.keys()
    assert CORRECTED_TERMS[:2] in contracts
    assert CREDITED in contracts
    assert CREDITED[0] in UNPAID
    assert CORRECTED_TERMS[0] in MAILED_CUSTOMERS
    assert CONTACTS.keys() <= groups
    assert {(group, vendor) for _, group, vendor in MONTHLY_OVERRIDES} <= contracts
    assert {move.owner for move in RESERVED_INSTANCE_MOVES} <= RESERVATION_FEES.keys()
    assert {(move.receiver, "aws") for move in RESERVED_INSTANCE_MOVES} <= contracts
    for project in list_projects(AOZORA):
        assert groups.issuperset(project.billing_groups)


def test_all_customers_but_two_have_a_valid_contact() -> None:
    contacts = [contact for group in CONTACTS.values() for contact in group]

    assert len(CONTACTS) == len(AOZORA.customers) - 2
    assert set(MAILED_CUSTOMERS) <= CONTACTS.keys()
    for name, email, _ in contacts:
        assert list(find_contact_violations({"name": name, "email": email})) == []
        assert email.endswith(".demo.invalid")
    assert len({email for _, email, _ in contacts}) == len(contacts)


def test_one_off_charges_cover_every_type_and_are_partly_applied() -> None:
    assert {charge.calc_type for charge in ONE_OFF_CHARGES} == {"Fee", "Credit", "Refund"}
    assert {charge.kind for charge in ONE_OFF_CHARGES} <= {kind.name for kind in ChargeKind}
    assert [charge.applied_in for charge in ONE_OFF_CHARGES if charge.tax_free] == [OPEN_MONTH]
    assert {charge.applied_in is None for charge in ONE_OFF_CHARGES} == {True, False}
    assert all(charge.applied_in >= charge.month for charge in ONE_OFF_CHARGES if charge.applied_in)


def test_terms_are_exact_decimals() -> None:
    changed = terms(discount_rate="0.075", currency="usd")

    assert changed["discount_rate"] == Decimal("0.075")
    assert changed["currency"] == "usd"
    assert USUAL_TERMS["discount_rate"] == Decimal("0.05")


def test_more_months_add_steps_and_keep_the_others() -> None:
    few, many = (build_seed_plan(AOZORA, last_months(count)) for count in (3, 13))

    assert few.earlier_months == {}
    assert [*few.master_data, *few.recent_months] == [*many.master_data, *many.recent_months]
    invoiced = [name.rpartition(" ")[2] for name in many.earlier_months if "invoices of" in name]
    assert invoiced == list(MONTHS[:-3])


def test_data_of_a_different_demo_version_is_refused() -> None:
    login = DemoLogin(
        **dict.fromkeys(DemoLogin.__slots__[:-1], ""), completed_steps=["billing groups"]
    )
    logins = {reseller.english_name: login for reseller in RESELLERS}
    refuse_other_seed_data(logins)

    login.completed_steps.append("a step of another version")

    with pytest.raises(DemoError, match="a different version of the demo"):
        refuse_other_seed_data(logins)
