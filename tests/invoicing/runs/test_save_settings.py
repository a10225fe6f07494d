"""Saving the settings and exchange rates of a month."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.invoicing.documents.bodies import SaveExchangeRateRequest, SaveSettingsRequest
from tests.body_violations import find_body_violations
from tests.costs.months.month_requests import close_month
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.month_end import MONTH, SETTING, MonthEnd
from tests.problem_responses import read_problem, read_violations


def get_saved_data(month_end: MonthEnd, company_id: str, vendor: str = "aws") -> Any:
    listed = month_end.get(f"/invoices/{MONTH}").json()["billinggroup"]
    (record,) = [record for record in listed if record["company_id"] == company_id]
    return record["saved_data"][vendor]


def save_all(month_end: MonthEnd, settings: Any, headers: Any = None) -> Any:
    body = {"settings": settings, "internal": True}
    return month_end.put(f"/invoices/save/{MONTH}", body, headers)


RATE_BODY = {"vendor": "aws", "billing_groups": ["cmp_x"], "exchange_rate": 150}
PLAIN_SETTING = {  # with numbers that JSON can encode
    name: float(value) if isinstance(value, Decimal) else value for name, value in SETTING.items()
}


def find_setting_violations(settings: Any) -> list[tuple[str, str]]:
    return find_body_violations(SaveSettingsRequest, {"settings": settings, "internal": False})


def _number(value: Any) -> Any:
    return value if isinstance(value, str) else Decimal(str(value))


def test_saved_settings_are_listed(month_end: MonthEnd) -> None:
    group = month_end.create_group()

    response = month_end.save_settings(group, memo="agreed by telephone")

    assert (response.status_code, response.json()) == (200, {"status": "success"})
    found = get_saved_data(month_end, group)
    assert {name: _number(found[name]) for name in SETTING} == {
        name: _number(value) for name, value in SETTING.items()
    }
    assert (found["memo"], found["exchange_rate"]) == ("agreed by telephone", None)


@pytest.mark.parametrize("nothing", [[], {}], ids=["list", "object"])
def test_internal_copies_the_default_settings_of_every_group(
    month_end: MonthEnd, nothing: Any
) -> None:
    own = month_end.create_group("BG-1", invoices={"aws": VALID_SETTING, "azure": VALID_SETTING})
    without = month_end.create_group("BG-2")

    assert save_all(month_end, nothing).status_code == 200

    assert get_saved_data(month_end, own)["calc_type"] == VALID_SETTING["calc_type"]
    assert get_saved_data(month_end, own, "azure") is not None
    assert get_saved_data(month_end, without) is None


def test_internal_copies_only_visible_groups(month_end: MonthEnd) -> None:
    seen = month_end.create_group("BG-1", invoices={"aws": VALID_SETTING})
    hidden = month_end.create_group("BG-2", invoices={"aws": VALID_SETTING})
    restricted = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[seen])

    save_all(month_end, {}, restricted)

    assert get_saved_data(month_end, seen) is not None
    assert get_saved_data(month_end, hidden) is None


def test_changing_the_defaults_keeps_saved_settings(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", invoices={"aws": VALID_SETTING})
    save_all(month_end, {})
    changed = VALID_SETTING | {
        "substitution_fee_calc_target": "cloudpayonly",
        "substitution_fee_target_usage": "discounted",
        "support_fee_calc_target": "cloudpaywithfee",
        "discount_rate": 1,
        "tax_rate": 0,
    }

    response = month_end.post(
        f"/billinggroup/{group}/invoices", {"vendor": "aws", "invoices": changed}
    )

    assert response.status_code == 200, response.text
    assert get_saved_data(month_end, group)["discount_rate"] == VALID_SETTING["discount_rate"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tax_rate", 0.10),
        ("support_amount_target", "cloudpayonlywithfee"),
        ("discount_calc_logic", "allamount"),
        ("support_fee_calc_target", "cloudpaywithfee"),
    ],
)
def test_a_value_of_either_column_is_allowed(field: str, value: Any) -> None:
    assert find_setting_violations({"cmp_x": {"aws": PLAIN_SETTING | {field: value}}}) == []


def test_a_value_of_neither_column_is_refused_and_changes_nothing(month_end: MonthEnd) -> None:
    group, other = month_end.create_group("BG-1"), month_end.create_group("BG-2")
    settings = {
        other: {"aws": SETTING},
        group: {"aws": SETTING | {"currency": "eur", "tax_rate": Decimal("0.11")}},
    }

    response = month_end.put(f"/invoices/save/{MONTH}", {"settings": settings, "internal": False})

    assert response.status_code == 400
    assert read_violations(response) == [
        ("settings.aws.currency", "one of jpy, usd"),
        ("settings.aws.tax_rate", "from 0 to 0.10, or from 0 to 0.08"),
    ]
    assert get_saved_data(month_end, other) is None


def test_conflicting_fee_targets_are_refused() -> None:
    conflict = {
        "substitution_fee_calc_target": "discounted",
        "substitution_fee_target_usage": "nondiscount",
    }

    violations = find_setting_violations({"cmp_x": {"aws": PLAIN_SETTING | conflict}})

    assert [field for field, _ in violations] == ["settings.aws.substitution_fee_target_usage"]


@pytest.mark.parametrize(
    "settings",
    [None, 1, "x", [1], {"cmp_x": None}, {"cmp_x": {"gcp": PLAIN_SETTING}}, {"cmp_x": {"aws": {}}}],
    ids=str,
)
def test_malformed_settings_are_refused(settings: Any) -> None:
    assert find_setting_violations(settings)


def test_an_unknown_group_is_refused_and_nothing_is_saved(month_end: MonthEnd) -> None:
    group = month_end.create_group()

    response = month_end.save_settings(group, "cmp_" + "a" * 26)

    assert read_violations(response) == [("settings", "existing billing groups")]
    assert get_saved_data(month_end, group) is None


def test_saving_settings_again_keeps_the_rate(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", invoices={"aws": VALID_SETTING})
    month_end.prepare_groups(group)

    month_end.save_settings(group, discount_rate=0)
    save_all(month_end, [])

    assert get_saved_data(month_end, group)["exchange_rate"] == 150.25


def test_an_unstated_fee_target_keeps_its_earlier_value(month_end: MonthEnd) -> None:
    """The support basis stays `discounted` where the later word speaks of the scope alone."""
    group = month_end.create_group("BG-1", "222222222222")
    month_end.save_settings(group, support_fee_calc_target="discounted")
    month_end.save_settings(group, support_fee_calc_target="cloudpaywithfee")
    month_end.save_rate(group)

    assert month_end.create_invoices(group).status_code == 200

    terms = month_end.get_invoice(group)["terms"]
    assert (terms["support_basis"], terms["support_scope"]) == ("discounted", "cloudpaywithfee")


# ── rates ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("as_object", [False, True], ids=["array", "object"])
def test_an_exchange_rate_keeps_the_digits_sent(
    month_end: MonthEnd, method: str, as_object: bool
) -> None:
    group = month_end.create_group()
    month_end.save_settings(group)
    groups: Any = {group: {"whatever": 1}} if as_object else [group]
    body = {"vendor": "aws", "billing_groups": groups, "exchange_rate": Decimal("150.250")}
    send = month_end.put if method == "PUT" else month_end.post

    response = send(f"/invoices/exchangerate/{MONTH}", body)

    assert (response.status_code, response.json()) == (200, {"status": "success"})
    assert '"exchange_rate":150.250,' in month_end.get(f"/invoices/{MONTH}").text


def test_a_rate_for_a_group_without_settings_is_refused_for_all_groups(month_end: MonthEnd) -> None:
    ready, bare = month_end.create_group("BG-1"), month_end.create_group("BG-2")
    month_end.save_settings(ready)

    problem = read_problem(month_end.save_rate(ready, bare), 409)

    assert problem["code"] == "not_ready"
    assert problem["violations"] == [{"field": bare, "rule": "settings_missing"}]
    assert get_saved_data(month_end, ready)["exchange_rate"] is None


@pytest.mark.parametrize("rate", [0, -1, 1000000.1, "150", None])
def test_an_invalid_exchange_rate_is_refused(rate: Any) -> None:
    violations = find_body_violations(SaveExchangeRateRequest, RATE_BODY | {"exchange_rate": rate})

    assert [field for field, _ in violations] == ["exchange_rate"]


def test_violations_of_a_rate_are_returned_and_nothing_is_saved(month_end: MonthEnd) -> None:
    group = month_end.create_group()
    month_end.save_settings(group)

    response = month_end.save_rate(group, rate=0)

    assert read_violations(response) == [("exchange_rate", "more than 0, up to 1,000,000")]
    assert get_saved_data(month_end, group)["exchange_rate"] is None


@pytest.mark.parametrize("groups", [[], {}, "cmp", [1], None], ids=str)
def test_an_exchange_rate_requires_at_least_one_group(groups: Any) -> None:
    violations = find_body_violations(
        SaveExchangeRateRequest, RATE_BODY | {"billing_groups": groups}
    )

    assert {field.partition("[")[0] for field, _ in violations} == {"billing_groups"}


def test_nothing_is_saved_in_a_closed_month(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", invoices={"aws": VALID_SETTING, "azure": VALID_SETTING})
    month_end.save_settings(group)
    assert close_month(month_end.service, MONTH).status_code == 200

    for response in (month_end.save_settings(group, discount_rate=0), month_end.save_rate(group)):
        assert read_problem(response, 409)["code"] == "month_closed"
    save_all(month_end, {})
    assert get_saved_data(month_end, group)["discount_rate"] == 0.05
    assert get_saved_data(month_end, group, "azure") is not None


def test_copying_the_defaults_into_a_closed_month_is_refused(month_end: MonthEnd) -> None:
    """Azure is open, but no group has settings for it, so nothing would be saved."""
    group = month_end.create_group("BG-1", invoices={"aws": VALID_SETTING})
    assert close_month(month_end.service, MONTH).status_code == 200

    refused = save_all(month_end, {})

    assert read_problem(refused, 409)["code"] == "month_closed"
    assert get_saved_data(month_end, group) is None

    other = month_end.create_group("BG-2", invoices={"azure": VALID_SETTING})

    assert save_all(month_end, {}).status_code == 200, "the open vendor is copied"
    assert get_saved_data(month_end, group) is None
    assert get_saved_data(month_end, other, "azure") is not None


def test_the_settings_of_5000_groups_fit_into_a_request(month_end: MonthEnd) -> None:
    memo = {"memo": "請求書の備考。" * 5}
    settings = {
        f"cmp_{number:026}": {"aws": SETTING | memo, "azure": SETTING | memo}
        for number in range(5_000)
    }

    response = month_end.put(f"/invoices/save/{MONTH}", {"settings": settings, "internal": False})

    assert read_violations(response) == [("settings", "existing billing groups")]
