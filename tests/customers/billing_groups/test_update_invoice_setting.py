"""POST /m/core/billinggroup/{company_id}/invoices"""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.rules import Between, OneOf, PerVendor, Rule
from nimbill.foundation.vendors import BILLED_VENDORS, BilledVendor
from tests.answers import Answer, problem_of, violations_of
from tests.customers.billing_groups.bodies import SOUND_SETTING
from tests.customers.billing_groups.stored import PATH, create
from tests.running_service import Service

# sound by the update column, for either vendor
SETTING: dict[str, Any] = SOUND_SETTING | {
    "discount_calc_logic": "allamount",
    "substitution_fee_calc_target": "cloudpayonly",
    "substitution_fee_target_usage": "nondiscount",
    "support_amount_target": "cloudpayonlywithfee",
    "support_fee": "percent",
    "support_fee_calc_target": "cloudpaywithfee",
    "tax_rate": 0.08,
}
TERMS = ("substitution_basis", "substitution_scope", "support_basis", "support_scope")


def update(
    service: Service, company_id: str, vendor: str, setting: Any, headers: Any = None
) -> Answer:
    return service.http.post(
        f"{PATH}/{company_id}/invoices",
        json={"vendor": vendor, "invoices": setting},
        headers=headers or service.root(),
    )


def invoices(service: Service, company_id: str) -> Any:
    path = f"{PATH}/{company_id}/resource"
    return service.http.get(path, headers=service.root()).json()["invoices"]


def either(service: Service) -> None:
    change = {"invoice_setting_update": "either"}
    answer = service.http.put("/m/core/settings", json=change, headers=service.root())
    assert answer.status_code == 200


def stored_terms(service: Service, company_id: str, vendor: str) -> tuple[Any, ...]:
    """The four columns that say what the words settled."""
    question = sa.text(
        f"SELECT {', '.join(TERMS)} FROM invoice_settings WHERE company_id = :company_id "
        "AND vendor = :vendor"
    )

    async def ask() -> tuple[Any, ...]:
        organisation_id = service.organisation.organisation_id
        async with transaction(service.resources.engine, organisation_id) as db:
            asked = {"company_id": company_id, "vendor": vendor}
            return tuple((await db.execute(question, asked)).one())

    return service.run(ask)


def rule_of(field: str, column: str, vendor: BilledVendor) -> Rule:
    cell = getattr(ALLOWED[field], column)
    return cell[vendor] if isinstance(cell, PerVendor) else cell


def written(field: str, value: Any) -> bytes:
    """A body as text, so that digits stay as they are."""
    setting = json.dumps(SETTING | {field: "?"}).replace('"?"', str(value))
    return f'{{"vendor": "aws", "invoices": {setting}}}'.encode()


def test_a_setting_is_replaced_and_the_other_vendors_stays(service: Service) -> None:
    both = {"aws": SOUND_SETTING, "azure": SOUND_SETTING}
    company_id = create(service, service.root(), billinggroup_id="BG", invoices=both)

    answer = update(service, company_id, "aws", SETTING)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert invoices(service, company_id) == {"aws": SETTING, "azure": SOUND_SETTING}


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
def test_a_vendor_the_group_has_none_of_is_added(service: Service, vendor: BilledVendor) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")

    assert update(service, company_id, vendor, SETTING).status_code == 200

    assert invoices(service, company_id) == {vendor: SETTING}


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
def test_what_the_update_column_allows_is_taken_and_read_back(
    service: Service, vendor: BilledVendor
) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")
    for field in ALLOWED:
        rule = rule_of(field, "update", vendor)
        values = rule.words if isinstance(rule, OneOf) else (0,)
        for value in values:
            setting = SETTING | {field: value}
            assert update(service, company_id, vendor, setting).status_code == 200, (field, value)
            assert invoices(service, company_id)[vendor] == setting


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
def test_what_stands_in_the_create_column_alone_is_refused(
    service: Service, vendor: BilledVendor
) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")
    for field in ALLOWED:
        rule, on_create = rule_of(field, "update", vendor), rule_of(field, "create", vendor)
        if isinstance(rule, Between):
            refused: list[Any] = [float(rule.high) + 0.001, -0.001]
        else:
            assert isinstance(rule, OneOf)
            assert isinstance(on_create, OneOf)
            refused = [*(set(on_create.words) - set(rule.words)), "", "none of them"]
        for value in refused:
            answer = update(service, company_id, vendor, SETTING | {field: value})
            assert violations_of(answer) == [(f"invoices.{field}", str(rule))], value
    assert invoices(service, company_id) == {}


@pytest.mark.parametrize("plan", ["aws_developer", "aws_business", "aws_enterprise"])
def test_support_plans_of_one_vendor_are_not_the_others(service: Service, plan: str) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")
    setting = SETTING | {"support_fee": plan}

    assert update(service, company_id, "aws", setting).status_code == 200
    answer = update(service, company_id, "azure", setting)

    assert violations_of(answer) == [("invoices.support_fee", "one of percent, fix")]


@pytest.mark.parametrize(
    ("field", "edge", "beyond"),
    [
        ("tax_rate", "0.08", "0.08000000000000000000000000001"),
        ("discount_rate", "1.000", "1.00000000000000000000000001"),
        ("support_fix", "1000000.00", "1000000.000000000000000001"),
        ("substitution_fix", "0.0000", "-0.000000000000000000000001"),
    ],
)
def test_numbers_are_exact_at_the_edges(
    service: Service, field: str, edge: str, beyond: str
) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")
    path, headers = f"{PATH}/{company_id}", service.root() | {"Content-Type": "application/json"}

    taken = service.http.post(f"{path}/invoices", content=written(field, edge), headers=headers)
    refused = service.http.post(f"{path}/invoices", content=written(field, beyond), headers=headers)

    assert taken.status_code == 200
    shown = service.http.get(f"{path}/resource", headers=headers).text
    assert f'"{field}":{edge}' in shown
    assert [field_ for field_, _ in violations_of(refused)] == [f"invoices.{field}"]


def test_every_field_is_required(service: Service) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")

    for field in SETTING:
        without = {name: value for name, value in SETTING.items() if name != field}
        for setting in (without, without | {field: None}):
            answer = update(service, company_id, "aws", setting)
            assert violations_of(answer) == [(f"invoices.{field}", "required")]


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({}, [("vendor", "required"), ("invoices", "required")]),
        ({"vendor": "aws", "invoices": []}, [("invoices", "an object")]),
        ({"vendor": "gcp", "invoices": SETTING}, [("vendor", "one of aws, azure")]),
        ({"vendor": None, "invoices": SETTING}, [("vendor", "required")]),
        (SETTING | {"vendor": "aws"}, [("invoices", "required")]),
    ],
)
def test_the_wrapper_is_asked_for(
    service: Service, body: Any, broken: list[tuple[str, str]]
) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")

    answer = service.http.post(f"{PATH}/{company_id}/invoices", json=body, headers=service.root())

    assert violations_of(answer) == broken


def test_unknown_foreign_and_hidden_groups_are_not_there(service: Service) -> None:
    other = service.new_organisation()
    foreign = create(service, service.root(other), billinggroup_id="theirs")
    hidden = create(service, service.root(), billinggroup_id="hidden")
    seen = create(service, service.root(), billinggroup_id="seen")
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[seen])

    for company_id in ("cmp_never_was", foreign, hidden):
        problem_of(update(service, company_id, "aws", SETTING, narrowed), 404)
    assert update(service, seen, "aws", SETTING, narrowed).status_code == 200
    assert invoices(service, hidden) == {}


# ── with `either`, both columns ──────────────────────────────────────────────────────────────────


def test_with_either_what_was_read_can_be_saved_back(service: Service) -> None:
    either(service)
    company_id = create(
        service, service.root(), billinggroup_id="BG", invoices={"aws": SOUND_SETTING}
    )

    answer = update(service, company_id, "aws", invoices(service, company_id)["aws"])

    assert answer.status_code == 200
    assert invoices(service, company_id) == {"aws": SOUND_SETTING}


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
def test_with_either_a_value_of_either_column_is_taken_and_no_other(
    service: Service, vendor: BilledVendor
) -> None:
    either(service)
    company_id = create(service, service.root(), billinggroup_id="BG")
    pair = {"substitution_fee_calc_target", "substitution_fee_target_usage"}
    for field in ALLOWED.keys() - pair:
        rules = [rule_of(field, column, vendor) for column in ("create", "update")]
        words = [word for rule in rules if isinstance(rule, OneOf) for word in rule.words]
        highs = [float(rule.high) for rule in rules if isinstance(rule, Between)]
        for value in words or highs:
            setting = SETTING | {field: value}
            assert update(service, company_id, vendor, setting).status_code == 200, (field, value)
        refused = "none of them" if words else max(highs) + 0.001
        said = ", or ".join(dict.fromkeys(str(rule) for rule in rules))
        answer = update(service, company_id, vendor, SETTING | {field: refused})
        assert violations_of(answer) == [(f"invoices.{field}", said)]


@pytest.mark.parametrize(
    ("calc_target", "target_usage", "missing"),
    [
        ("nondiscount", "discounted", "one of cloudpayonly, cloudpaywithfee"),
        ("discounted", "discounted", "one of cloudpayonly, cloudpaywithfee"),
        ("cloudpayonly", "cloudpaywithfee", "one of nondiscount, discounted"),
        ("cloudpaywithfee", "cloudpaywithfee", "one of nondiscount, discounted"),
    ],
)
def test_with_either_two_words_for_one_dimension_are_refused(
    service: Service, calc_target: str, target_usage: str, missing: str
) -> None:
    either(service)
    company_id = create(service, service.root(), billinggroup_id="BG")
    words = {
        "substitution_fee_calc_target": calc_target,
        "substitution_fee_target_usage": target_usage,
    }

    answer = update(service, company_id, "aws", SETTING | words)

    rule = f"{missing} beside the other word"
    assert violations_of(answer) == [("invoices.substitution_fee_target_usage", rule)]
    assert invoices(service, company_id) == {}


# ── what is settled and stored ───────────────────────────────────────────────────────────────────


def test_the_words_settle_what_is_stored(service: Service) -> None:
    company_id = create(
        service,
        service.root(),
        billinggroup_id="BG",
        invoices={"aws": SOUND_SETTING | {"support_fee_calc_target": "discounted"}},
    )
    created = ("discounted", "cloudpaywithfee", "discounted", None)
    assert stored_terms(service, company_id, "aws") == created

    update(service, company_id, "aws", SETTING)
    updated = ("nondiscount", "cloudpayonly", "discounted", "cloudpaywithfee")
    assert stored_terms(service, company_id, "aws") == updated

    either(service)
    update(service, company_id, "aws", SOUND_SETTING)
    saved_back = ("discounted", "cloudpaywithfee", "nondiscount", "cloudpaywithfee")
    assert stored_terms(service, company_id, "aws") == saved_back


def test_where_there_was_none_support_is_before_discount(service: Service) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")

    update(service, company_id, "azure", SETTING)

    terms = ("nondiscount", "cloudpayonly", "nondiscount", "cloudpaywithfee")
    assert stored_terms(service, company_id, "azure") == terms


def test_a_refused_update_settles_nothing(service: Service) -> None:
    company_id = create(
        service, service.root(), billinggroup_id="BG", invoices={"aws": SOUND_SETTING}
    )
    before = stored_terms(service, company_id, "aws")

    assert violations_of(update(service, company_id, "aws", SETTING | {"currency": "eur"}))

    assert stored_terms(service, company_id, "aws") == before
    assert invoices(service, company_id) == {"aws": SOUND_SETTING}
