"""GET and PUT /m/core/settings"""

from __future__ import annotations

from functools import partial
from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.invoice_templates.templates import create_template
from tests.customers.organisation_settings.test_settings_body import ENUMERATIONS, TIME_ZONES
from tests.problem_responses import HttpResponse, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently

PATH = "/m/core/settings"

DEFAULTS: dict[str, Any] = {
    "rounding": "half_up",
    "usage_table": [],
    "invoice_setting_update": "stated",
    "cost_tag_key": None,
    "report_tag_keys": [],
    "invoice_template_id": None,
    "time_zone": "Asia/Tokyo",
    "language": "ja",
    "vendors": ["aws", "azure"],
    "provider_names": {},
    "agent_role_arn": None,
    "check_change_limit": 0.3,
    "check_margin_limit": 0,
    "portal_name": None,
    "portal_colour": None,
    "portal_shows_payments": False,
    "portal_invoices": "created",
    "invoice_reply_to": None,
    "staff_needs_second_factor": False,
    "customers_need_second_factor": False,
    "approval_required": [],
}
BANDS = [{"upto": 1000000, "rate": 0.05}, {"upto": None, "rate": 0.03}]


def read(service: Service, headers: Any = None) -> Any:
    response = service.http.get(PATH, headers=headers or service.root())
    assert response.status_code == 200, response.text
    return response.json()


def put(service: Service, headers: Any = None, **changes: Any) -> HttpResponse:
    return service.http.put(PATH, json=changes, headers=headers or service.root())


def test_a_new_organisation_has_the_defaults(service: Service) -> None:
    assert read(service, service.caller(RoleAction.ReadSettings)) == DEFAULTS
    assert read(service, service.caller(RoleAction.ModifySettings)) == DEFAULTS


def test_every_setting_can_be_changed_and_the_response_shows_all(service: Service) -> None:
    changes = {
        "rounding": "down",
        "usage_table": BANDS,
        "invoice_setting_update": "either",
        "cost_tag_key": "CostCenter",
        "report_tag_keys": ["Team", "Environment"],
        "invoice_template_id": create_template(service),
        "time_zone": "Europe/Zurich",
        "agent_role_arn": "arn:aws:iam::123456789012:role/agents",
        "check_change_limit": 0.5,
        "check_margin_limit": -0.05,
        "portal_name": "Cloud portal",
        "portal_colour": "#1a5fb4",
        "portal_shows_payments": True,
        "portal_invoices": "sent",
        "invoice_reply_to": "keiri@example.jp",
        "staff_needs_second_factor": True,
        "customers_need_second_factor": True,
        "language": "en",
        "vendors": ["gcp", "aws", "oracle", "azure"],
        "provider_names": {"oracle": ["Oracle", "Oracle Cloud Infrastructure"]},
        "approval_required": ["month_close", "rates"],
    }
    service.caller(RoleAction.ApproveRequests)

    response = put(service, service.caller(RoleAction.ModifySettings), **changes)

    assert response.status_code == 200
    assert response.json() == read(service) == changes


def test_only_the_settings_that_are_sent_change(service: Service) -> None:
    put(service, rounding="up", cost_tag_key="old", usage_table=BANDS, time_zone="UTC")
    expected = read(service)
    changes: dict[str, Any] = {
        "rounding": "down",
        "usage_table": [],
        "invoice_setting_update": "either",
        "cost_tag_key": "new",
        "time_zone": "Asia/Seoul",
        "language": "en",
    }

    for setting, value in changes.items():
        response = put(service, **{setting: value})

        expected |= {setting: value}
        assert response.json() == read(service) == expected


def test_null_absent_and_unknown_fields_change_nothing(service: Service) -> None:
    put(service, rounding="up", usage_table=BANDS, cost_tag_key="x", language="en")
    before = read(service)

    assert put(service, **dict.fromkeys(DEFAULTS)).json() == before
    assert put(service).json() == before
    assert put(service, unknown="x", organisation_id="org_x").json() == before


def test_an_empty_text_clears_what_is_optional(service: Service) -> None:
    role = "arn:aws:iam::123456789012:role/agents"
    template_id = create_template(service)
    put(service, cost_tag_key="x", invoice_template_id=template_id, agent_role_arn=role)

    response = put(service, cost_tag_key="", invoice_template_id="", agent_role_arn="")

    assert response.json() == read(service) == DEFAULTS


def test_each_organisation_has_its_own_settings(service: Service) -> None:
    other = service.root(service.new_organisation())

    put(service, language="en")

    assert read(service, other) == DEFAULTS


def test_every_allowed_value_is_stored(service: Service) -> None:
    allowed = {**ENUMERATIONS, "time_zone": TIME_ZONES, "cost_tag_key": ("長" * 128,)}

    for setting, values in allowed.items():
        for value in values:
            assert put(service, **{setting: value}).json()[setting] == value


def test_all_violations_are_reported_at_once_and_nothing_changes(service: Service) -> None:
    bands = [{"upto": 0, "rate": 0}, {"upto": None, "rate": 1.01}]

    response = put(service, rounding="", cost_tag_key="長" * 129, usage_table=bands, language="en")

    assert read_violations(response) == [
        ("rounding", "one of half_up, down, up"),
        ("cost_tag_key", "length 0 to 128"),
        ("usage_table[0].upto", "more than in the band before"),
        ("usage_table[1].rate", "from 0 to 1"),
    ]
    assert read(service) == DEFAULTS


def test_an_unknown_or_foreign_template_is_refused(service: Service) -> None:
    foreign = create_template(service, service.root(service.new_organisation()))

    for template_id in ("tpl_unknown", foreign):
        response = put(service, invoice_template_id=template_id, language="en")
        rule = "an existing invoice template"
        assert read_violations(response) == [("invoice_template_id", rule)]
    assert read(service) == DEFAULTS


def test_amounts_and_rates_keep_their_digits(service: Service) -> None:
    body = (
        '{"usage_table":[{"upto":100000.00,"rate":0.0500},{"upto":1234567890123.4567890,'
        '"rate":0.123456789012345678901234567},{"upto":null,"rate":0.000}]'
    )
    headers = service.root() | {"Content-Type": "application/json"}

    response = service.http.put(PATH, content=body + "}", headers=headers)

    for text in (response.text, service.http.get(PATH, headers=headers).text):
        assert body[1:] in text
    assert body[1:] in put(service, language="en").text


def test_the_smallest_rates_can_be_stored_and_read(service: Service) -> None:
    """A number within the limits of a body may be written with a larger exponent when stored."""
    headers = service.root() | {"Content-Type": "application/json"}

    for rate in ("0.0000001e-12", "1e-12", "0.000000000000000000000000000001"[:31]):
        content = f'{{"usage_table": [{{"upto": null, "rate": {rate}}}]}}'
        response = service.http.put(PATH, content=content, headers=headers)

        assert response.status_code == 200
        assert read(service)["usage_table"] == [{"upto": None, "rate": float(rate)}]
        assert put(service, language="en").status_code == 200


def test_concurrent_changes_of_different_settings_are_all_kept(service: Service) -> None:
    """These are the first changes of the organisation, when there is no row to lock yet."""
    changes: list[dict[str, Any]] = [
        {"rounding": "up"},
        {"language": "en"},
        {"time_zone": "UTC"},
        {"cost_tag_key": "x"},
        {"usage_table": BANDS},
        {"invoice_setting_update": "either"},
    ]

    responses = run_concurrently([partial(put, service, **change) for change in changes])

    assert {response.status_code for response in responses} == {200}
    combined = {name: value for change in changes for name, value in change.items()}
    assert read(service) == DEFAULTS | combined
