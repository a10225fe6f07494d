"""GET and PUT /m/core/settings"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, violations_of
from tests.customers.invoice_templates.templates import made as made_template
from tests.people import all_at_once
from tests.running_service import Service

PATH = "/m/core/settings"

DEFAULTS: dict[str, Any] = {
    "rounding": "half_up",
    "usage_table": [],
    "invoice_setting_update": "stated",
    "cost_tag_key": None,
    "invoice_template_id": None,
    "time_zone": "Asia/Tokyo",
    "language": "ja",
}
BANDS = [{"upto": 1000000, "rate": 0.05}, {"upto": None, "rate": 0.03}]


def read(service: Service, headers: Any = None) -> Any:
    answer = service.http.get(PATH, headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    return answer.json()


def put(service: Service, headers: Any = None, **change: Any) -> Answer:
    return service.http.put(PATH, json=change, headers=headers or service.root())


def test_an_organisation_starts_with_the_defaults(service: Service) -> None:
    assert read(service, service.caller(RoleAction.ReadSettings)) == DEFAULTS
    assert read(service, service.caller(RoleAction.ModifySettings)) == DEFAULTS


def test_every_setting_can_be_changed_and_the_answer_shows_all(service: Service) -> None:
    changed = {
        "rounding": "down",
        "usage_table": BANDS,
        "invoice_setting_update": "either",
        "cost_tag_key": "CostCenter",
        "invoice_template_id": made_template(service),
        "time_zone": "Europe/Zurich",
        "language": "en",
    }

    answer = put(service, service.caller(RoleAction.ModifySettings), **changed)

    assert answer.status_code == 200
    assert answer.json() == read(service) == changed


@pytest.mark.parametrize("setting", [name for name in DEFAULTS if name != "invoice_template_id"])
def test_only_what_is_sent_changes(service: Service, setting: str) -> None:
    put(service, rounding="up", cost_tag_key="old", usage_table=BANDS, time_zone="UTC")
    before = read(service)
    new = {
        "rounding": "down",
        "usage_table": [],
        "invoice_setting_update": "either",
        "cost_tag_key": "new",
        "time_zone": "Asia/Seoul",
        "language": "en",
    }[setting]

    answer = put(service, **{setting: new})

    assert answer.json() == before | {setting: new}
    assert read(service) == before | {setting: new}


def test_null_and_nothing_leave_everything_as_it_is(service: Service) -> None:
    put(service, rounding="up", usage_table=BANDS, cost_tag_key="x", language="en")
    before = read(service)

    assert put(service, **dict.fromkeys(DEFAULTS)).json() == before
    assert put(service).json() == before
    assert put(service, unknown="x", organisation_id="org_x").json() == before


def test_an_empty_text_clears_the_key_and_the_template(service: Service) -> None:
    put(service, cost_tag_key="x", invoice_template_id=made_template(service))

    answer = put(service, cost_tag_key="", invoice_template_id="")

    assert answer.json() == read(service) == DEFAULTS


def test_settings_of_one_organisation_are_not_anothers(service: Service) -> None:
    other = service.root(service.new_organisation())

    put(service, language="en")

    assert read(service, other) == DEFAULTS


def test_words_are_taken_as_they_are_written(service: Service) -> None:
    for setting, words in {
        "rounding": ("half_up", "down", "up"),
        "invoice_setting_update": ("stated", "either"),
        "language": ("ja", "en"),
    }.items():
        for word in words:
            assert put(service, **{setting: word}).json()[setting] == word
        for wrong in ("", words[0].upper(), "nothing we know", 7):
            answer = put(service, **{setting: wrong})
            assert violations_of(answer) == [(setting, f"one of {', '.join(words)}")]


def test_a_time_zone_is_a_name_of_the_database(service: Service) -> None:
    for zone in ("Asia/Tokyo", "UTC", "America/Argentina/Ushuaia", "Etc/GMT-14"):
        assert put(service, time_zone=zone).json()["time_zone"] == zone
    for zone in (
        "",
        "Asia/Nowhere",
        "asia/tokyo",
        "+09:00",
        "../etc/passwd",
        "Asia/Tokyo ",
        "/UTC",
    ):
        answer = put(service, time_zone=zone)
        rule = "a name of the time zone database, such as Asia/Tokyo"
        assert violations_of(answer) == [("time_zone", rule)]
    assert read(service)["time_zone"] == "Etc/GMT-14"


def test_a_tag_key_has_at_most_128_characters(service: Service) -> None:
    assert put(service, cost_tag_key="長" * 128).status_code == 200

    answer = put(service, cost_tag_key="長" * 129)

    assert violations_of(answer) == [("cost_tag_key", "length 0 to 128")]


def test_an_unknown_or_foreign_template_is_refused(service: Service) -> None:
    foreign = made_template(service, service.root(service.new_organisation()))

    for template in ("tpl_never_was", foreign):
        answer = put(service, invoice_template_id=template, language="en")
        rule = "an existing invoice template"
        assert violations_of(answer) == [("invoice_template_id", rule)]
    assert read(service) == DEFAULTS


# ── the usage table ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("bands", "broken"),
    [
        ([{"upto": 100, "rate": 0}], [("usage_table[0].upto", "null in the last band")]),
        (
            [{"upto": None, "rate": 0}, {"upto": None, "rate": 0}],
            [("usage_table[0].upto", "more than in the band before")],
        ),
        (
            [{"upto": 0, "rate": 0}, {"upto": None, "rate": 1.01}],
            [
                ("usage_table[0].upto", "more than in the band before"),
                ("usage_table[1].rate", "from 0 to 1"),
            ],
        ),
        ([{"upto": None, "rate": -0.1}], [("usage_table[0].rate", "from 0 to 1")]),
        ([{"rate": 0.1}], [("usage_table[0].upto", "required")]),
        ([{"upto": None}], [("usage_table[0].rate", "required")]),
        ([{"upto": None, "rate": "0.1"}], [("usage_table[0].rate", "a number")]),
        ([{"upto": "9", "rate": 0.1}], [("usage_table[0].upto", "a number")]),
        ({"upto": None, "rate": 0}, [("usage_table", "a list")]),
        ([7], [("usage_table[0]", "an object")]),
    ],
)
def test_an_unsound_table_is_refused(
    service: Service, bands: Any, broken: list[tuple[str, str]]
) -> None:
    assert violations_of(put(service, usage_table=bands)) == broken
    assert read(service) == DEFAULTS


def test_amounts_and_rates_keep_their_digits(service: Service) -> None:
    written = (
        '{"usage_table":[{"upto":100000.00,"rate":0.0500},{"upto":1234567890123.4567890,'
        '"rate":0.123456789012345678901234567},{"upto":null,"rate":0.000}]'
    )
    headers = service.root() | {"Content-Type": "application/json"}

    answer = service.http.put(PATH, content=written + "}", headers=headers)

    for text in (answer.text, service.http.get(PATH, headers=headers).text):
        assert written[1:] in text
    assert written[1:] in put(service, language="en").text


@pytest.mark.parametrize(
    "rate", ["0.0000001e-12", "1e-12", "0.000000000000000000000000000001"[:31]]
)
def test_the_smallest_rates_can_be_read_again(service: Service, rate: str) -> None:
    """What came in within the limits of a body may be written with a larger exponent."""
    content = f'{{"usage_table": [{{"upto": null, "rate": {rate}}}]}}'
    headers = service.root() | {"Content-Type": "application/json"}

    first = service.http.put(PATH, content=content, headers=headers)

    assert first.status_code == 200
    assert read(service)["usage_table"] == [{"upto": None, "rate": float(rate)}]
    assert put(service, language="en").status_code == 200


# ── several at once ──────────────────────────────────────────────────────────────────────────────


def test_changes_of_different_settings_at_once_all_stay(service: Service) -> None:
    """Also the very first ones, when there is no row yet to lock."""
    changes: list[dict[str, Any]] = [
        {"rounding": "up"},
        {"language": "en"},
        {"time_zone": "UTC"},
        {"cost_tag_key": "x"},
        {"usage_table": BANDS},
        {"invoice_setting_update": "either"},
    ]

    answers = all_at_once([partial(put, service, **change) for change in changes])

    assert {answer.status_code for answer in answers} == {200}
    together = {name: value for change in changes for name, value in change.items()}
    assert read(service) == DEFAULTS | together
