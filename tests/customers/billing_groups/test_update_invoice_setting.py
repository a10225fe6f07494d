"""POST /m/core/billinggroup/{company_id}/invoices"""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES, RuleColumn
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.rules import OneOf, PerVendor, Rule
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.foundation.vendors import BilledVendor
from tests.customers.billing_groups.billing_groups import (
    PATH,
    create_billing_group,
    read_billing_group,
)
from tests.customers.billing_groups.sample_bodies import VALID_SETTING, VALID_SETTING_UPDATE
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service

FEE_TARGET_COLUMNS = ("substitution_basis", "substitution_scope", "support_basis", "support_scope")
AGENCY_FEE_FIELDS = {"substitution_fee_calc_target", "substitution_fee_target_usage"}


def update(
    service: Service, company_id: str, vendor: str, setting: Any, headers: Any = None, **fields: Any
) -> HttpResponse:
    return service.http.post(
        f"{PATH}/{company_id}/invoices",
        json={"vendor": vendor, "invoices": setting} | fields,
        headers=headers or service.root(),
    )


def read_settings(service: Service, company_id: str) -> Any:
    return read_billing_group(service, company_id)["invoices"]


def allow_values_of_create(service: Service) -> None:
    """Set the organisation setting with which an update accepts values of both columns."""
    change = {"invoice_setting_update": "either"}
    response = service.http.put("/m/core/settings", json=change, headers=service.root())
    assert response.status_code == 200


def load_fee_targets(service: Service, company_id: str, vendor: str) -> tuple[Any, ...]:
    stmt = sa.text(
        f"SELECT {', '.join(FEE_TARGET_COLUMNS)} FROM invoice_settings "
        "WHERE company_id = :company_id AND vendor = :vendor"
    )

    async def load() -> tuple[Any, ...]:
        organisation_id = service.organisation.organisation_id
        async with transaction(service.resources.engine, organisation_id) as db:
            parameters = {"company_id": company_id, "vendor": vendor}
            return tuple((await db.execute(stmt, parameters)).one())

    return service.run(load)


def get_rule(field: str, column: RuleColumn, vendor: BilledVendor) -> Rule:
    cell = getattr(ALLOWED_VALUES[field], column)
    return cell[vendor] if isinstance(cell, PerVendor) else cell


def list_allowed_settings(vendor: BilledVendor, column: RuleColumn) -> list[dict[str, Any]]:
    """Return settings that together hold every allowed word of the column."""
    allowed = {field: get_rule(field, column, vendor) for field in ALLOWED_VALUES}
    words = {field: rule.values for field, rule in allowed.items() if isinstance(rule, OneOf)}
    return [
        VALID_SETTING_UPDATE
        | {field: values[number % len(values)] for field, values in words.items()}
        | dict.fromkeys(("support_rate", "support_fix", "substitution_fix"), number % 2)
        for number in range(max(map(len, words.values())))
    ]


def test_only_the_setting_of_the_named_vendor_is_replaced(service: Service) -> None:
    both = {"aws": VALID_SETTING, "azure": VALID_SETTING}
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG", invoices=both)

    response = update(service, company_id, "aws", VALID_SETTING_UPDATE)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert read_settings(service, company_id) == {
        "aws": VALID_SETTING_UPDATE,
        "azure": VALID_SETTING,
    }


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
def test_a_setting_is_added_and_every_allowed_value_is_stored(
    service: Service, vendor: BilledVendor
) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")

    for setting in list_allowed_settings(vendor, "update"):
        response = update(service, company_id, vendor, setting)

        assert response.status_code == 200, response.text
        assert read_settings(service, company_id) == {vendor: setting}


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
def test_all_values_that_the_update_column_does_not_allow_are_reported(
    service: Service, vendor: BilledVendor
) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    create_only: dict[str, Any] = {}
    never: dict[str, Any] = {}
    for field in ALLOWED_VALUES:
        rule, create_rule = get_rule(field, "update", vendor), get_rule(field, "create", vendor)
        if isinstance(rule, OneOf) and isinstance(create_rule, OneOf):
            refused = [word for word in create_rule.values if not rule.allows(word)]
            create_only |= {field: refused[0]} if refused else {}
            never[field] = "unknown"
        else:
            never[field] = -0.001

    for wrong in (create_only, never):
        response = update(service, company_id, vendor, VALID_SETTING_UPDATE | wrong)

        assert read_violations(response) == [
            (f"invoices.{field}", describe_update_rule(field, vendor, wrong is create_only))
            for field in ALLOWED_VALUES
            if field in wrong
        ]
    assert create_only.keys() >= AGENCY_FEE_FIELDS
    assert read_settings(service, company_id) == {}


def describe_update_rule(field: str, vendor: BilledVendor, allowed_on_create: bool) -> str:
    hint = "; this value needs invoice_setting_update either in the organisation settings"
    return str(get_rule(field, "update", vendor)) + (hint if allowed_on_create else "")


def test_a_refused_tax_of_ten_percent_names_the_setting_that_allows_it(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")

    refused = update(service, company_id, "aws", VALID_SETTING_UPDATE | {"tax_rate": 0.1})
    never = update(service, company_id, "aws", VALID_SETTING_UPDATE | {"tax_rate": 0.11})

    ((field, rule),) = read_violations(refused)
    assert field == "invoices.tax_rate"
    assert rule.startswith("from 0 to 0.08; ")
    assert "invoice_setting_update" in rule
    assert read_violations(never) == [("invoices.tax_rate", "from 0 to 0.08")]


def test_decimals_are_exact_at_the_limits(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    path, headers = f"{PATH}/{company_id}", service.root() | {"Content-Type": "application/json"}
    limits = {
        "tax_rate": ("0.08", "0.08000000000000000000000000001"),
        "discount_rate": ("1.000", "1.00000000000000000000000001"),
        "support_fix": ("1000000.00", "1000000.000000000000000001"),
        "substitution_fix": ("0.0000", "-0.000000000000000000000001"),
    }

    def send(column: int) -> HttpResponse:
        setting = json.dumps(VALID_SETTING_UPDATE | {field: f"?{field}" for field in limits})
        for field, values in limits.items():
            setting = setting.replace(f'"?{field}"', values[column])
        body = f'{{"vendor": "aws", "invoices": {setting}}}'
        return service.http.post(f"{path}/invoices", content=body, headers=headers)

    assert send(0).status_code == 200
    record = service.http.get(f"{path}/resource", headers=headers).text
    for field, (limit, _) in limits.items():
        assert f'"{field}":{limit}' in record
    refused = {field for field, _ in read_violations(send(1))}
    assert refused == {f"invoices.{field}" for field in limits}


def test_unknown_foreign_and_hidden_groups_are_not_found(service: Service) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[visible])

    for company_id in ("cmp_unknown", foreign, hidden):
        read_problem(update(service, company_id, "aws", VALID_SETTING_UPDATE, restricted), 404)
    assert update(service, visible, "aws", VALID_SETTING_UPDATE, restricted).status_code == 200
    assert read_settings(service, hidden) == {}


# ── with the organisation setting `invoice_setting_update: either` ───────────────────────────────


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
def test_with_either_the_values_of_both_columns_are_stored(
    service: Service, vendor: BilledVendor
) -> None:
    allow_values_of_create(service)
    created = {vendor: VALID_SETTING}
    company_id = create_billing_group(
        service, service.root(), billinggroup_id="BG", invoices=created
    )

    columns: tuple[RuleColumn, ...] = ("create", "update")
    for setting in [
        read_settings(service, company_id)[vendor],
        *(setting for column in columns for setting in list_allowed_settings(vendor, column)),
    ]:
        response = update(service, company_id, vendor, setting)

        assert response.status_code == 200, response.text
        assert read_settings(service, company_id) == {vendor: setting}


def test_with_either_values_of_neither_column_are_reported(service: Service) -> None:
    allow_values_of_create(service)
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    wrong = {"currency": "eur", "discount_calc_logic": "", "support_fee": "x", "tax_rate": 0.101}

    response = update(service, company_id, "azure", VALID_SETTING_UPDATE | wrong)

    plans = "one of fix, percent, aws_developer, aws_business, aws_enterprise"
    assert read_violations(response) == [
        ("invoices.currency", "one of jpy, usd"),
        ("invoices.discount_calc_logic", "one of usageamount, or one of usageamount, allamount"),
        ("invoices.support_fee", f"{plans}, or one of percent, fix"),
        ("invoices.tax_rate", "from 0 to 0.10, or from 0 to 0.08"),
    ]


def test_with_either_agency_fee_fields_that_set_the_same_dimension_are_refused(
    service: Service,
) -> None:
    allow_values_of_create(service)
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    conflict = {
        "substitution_fee_calc_target": "nondiscount",
        "substitution_fee_target_usage": "discounted",
    }

    response = update(service, company_id, "aws", VALID_SETTING_UPDATE | conflict)

    ((field, rule),) = read_violations(response)
    assert field == "invoices.substitution_fee_target_usage"
    assert rule.startswith("one of cloudpayonly, cloudpaywithfee when ")
    assert read_settings(service, company_id) == {}


# ── stored fee targets ───────────────────────────────────────────────────────────────────────────


def test_fee_targets_are_stored_with_every_update(service: Service) -> None:
    company_id = create_billing_group(
        service,
        service.root(),
        billinggroup_id="BG",
        invoices={"aws": VALID_SETTING | {"support_fee_calc_target": "discounted"}},
    )
    created = ("discounted", "cloudpaywithfee", "discounted", None)
    assert load_fee_targets(service, company_id, "aws") == created

    update(service, company_id, "aws", VALID_SETTING_UPDATE)
    updated = ("nondiscount", "cloudpayonly", "discounted", "cloudpaywithfee")
    assert load_fee_targets(service, company_id, "aws") == updated

    allow_values_of_create(service)
    update(service, company_id, "aws", VALID_SETTING)
    updated_again = ("discounted", "cloudpaywithfee", "nondiscount", "cloudpaywithfee")
    assert load_fee_targets(service, company_id, "aws") == updated_again


def test_the_support_fee_of_a_new_setting_is_calculated_before_discount(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")

    update(service, company_id, "azure", VALID_SETTING_UPDATE)

    targets = ("nondiscount", "cloudpayonly", "nondiscount", "cloudpaywithfee")
    assert load_fee_targets(service, company_id, "azure") == targets


def test_a_refused_update_changes_nothing(service: Service) -> None:
    company_id = create_billing_group(
        service, service.root(), billinggroup_id="BG", invoices={"aws": VALID_SETTING}
    )
    before = load_fee_targets(service, company_id, "aws")

    assert read_violations(
        update(service, company_id, "aws", VALID_SETTING_UPDATE | {"currency": "eur"})
    )

    assert load_fee_targets(service, company_id, "aws") == before
    assert read_settings(service, company_id) == {"aws": VALID_SETTING}


def test_both_parts_of_the_support_fee_target_are_read_and_saved(service: Service) -> None:
    invoices = {"aws": VALID_SETTING | {"support_fee_calc_target": "discounted"}}
    company_id = create_billing_group(
        service, service.root(), billinggroup_id="BG", invoices=invoices
    )

    def read_target() -> Any:
        return read_billing_group(service, company_id)["support_fee_targets"]

    assert read_target() == {"aws": {"usage": "discounted", "scope": None}}
    setting = VALID_SETTING_UPDATE | {"support_fee_calc_target": "cloudpaywithfee"}
    update(service, company_id, "aws", setting)
    assert read_target() == {"aws": {"usage": "discounted", "scope": "cloudpaywithfee"}}

    target = {"usage": "nondiscount", "scope": "cloudpaywithfee"}
    response = update(service, company_id, "aws", setting, support_fee_target=target)

    assert response.status_code == 200, response.text
    assert read_target() == {"aws": target}
    assert read_settings(service, company_id) == {"aws": setting}
    assert load_fee_targets(service, company_id, "aws")[2:] == ("nondiscount", "cloudpaywithfee")


@pytest.mark.parametrize(
    ("target", "fields"),
    [
        ({"usage": "discounted", "scope": "cloudpayonly"}, ["support_fee_target.scope"]),
        ({"usage": "discounted", "scope": None}, ["support_fee_target.scope"]),
        ({"usage": "discounted"}, ["support_fee_target.scope"]),
        ({"usage": "discounted", "scope": ["cloudpaywithfee"]}, ["support_fee_target.scope"]),
        ("discounted", ["support_fee_target"]),
        ([], ["support_fee_target"]),
        ({"usage": "half", "scope": "cloudpaywithfee"}, ["support_fee_target.usage"]),
        ({"scope": "cloudpaywithfee"}, ["support_fee_target.usage"]),
    ],
)
def test_an_invalid_support_fee_target_is_refused(
    service: Service, target: Any, fields: list[str]
) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    setting = VALID_SETTING_UPDATE | {"support_fee_calc_target": "cloudpaywithfee"}

    response = update(service, company_id, "aws", setting, support_fee_target=target)

    assert [field for field, _ in read_violations(response)] == fields
    assert read_settings(service, company_id) == {}
