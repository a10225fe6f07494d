"""Field rules of the body that changes the organisation settings."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.organisation_settings.bodies import OrganisationSettingsChange
from tests.body_violations import find_body_violations

ENUMERATIONS = {
    "rounding": ("half_up", "down", "up"),
    "invoice_setting_update": ("stated", "either"),
    "language": ("ja", "en"),
    "portal_invoices": ("created", "sent"),
}
TIME_ZONES = ("Asia/Tokyo", "UTC", "America/Argentina/Ushuaia", "Etc/GMT-14")


def check(**fields: Any) -> list[tuple[str, str]]:
    return find_body_violations(OrganisationSettingsChange, fields)


@pytest.mark.parametrize("setting", ENUMERATIONS)
def test_a_setting_with_fixed_values_accepts_only_these(setting: str) -> None:
    words = ENUMERATIONS[setting]

    for word in words:
        assert check(**{setting: word}) == []
    for invalid in ("", words[0].upper(), "unknown", 7):
        assert check(**{setting: invalid}) == [(setting, f"one of {', '.join(words)}")]


@pytest.mark.parametrize("time_zone", TIME_ZONES)
def test_a_name_of_the_time_zone_database_is_accepted(time_zone: str) -> None:
    assert check(time_zone=time_zone) == []


@pytest.mark.parametrize(
    "time_zone",
    ["", "Asia/Nowhere", "asia/tokyo", "+09:00", "../etc/passwd", "Asia/Tokyo ", "/UTC"],
)
def test_any_other_time_zone_is_refused(time_zone: str) -> None:
    rule = "a name of the time zone database, such as Asia/Tokyo"

    assert check(time_zone=time_zone) == [("time_zone", rule)]


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "arn:aws:iam::123456789012:role/agents",
        "arn:aws-us-gov:iam::123456789012:role/team/agents+x=1,2.3@4_5-6",
    ],
)
def test_a_role_for_agents_is_accepted(arn: str) -> None:
    assert check(agent_role_arn=arn) == []


@pytest.mark.parametrize(  # version 3
    "arn",
    [
        "agents",
        "arn:aws:iam::123456789012:user/agents",
        "arn:aws:iam::12345:role/agents",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:role/agents\n",
        "arn:aws:iam::123456789012:role/ä",
    ],
)
def test_any_other_role_for_agents_is_refused(arn: str) -> None:  # version 3
    rule = "an ARN such as arn:aws:iam::123456789012:role/agents"

    assert check(agent_role_arn=arn) == [("agent_role_arn", rule)]


def test_a_tag_key_has_at_most_128_characters() -> None:
    assert check(cost_tag_key="長" * 128) == []
    assert check(cost_tag_key="長" * 129) == [("cost_tag_key", "length 0 to 128")]


@pytest.mark.parametrize(
    ("keys", "violations"),
    [
        ([], []),
        (["Team"], []),
        (["a", "A", "部門", "it's", "aws:createdBy"], []),
        (["長" * 128], []),
        (list("abcdef"), [("report_tag_keys", "at most 5 keys")]),
        (["Team", "Team"], [("report_tag_keys", "each key once")]),
        (["a\tb"], [("report_tag_keys", "printable keys")]),
        ([""], [("report_tag_keys[0]", "length 1 to 128")]),
        (["長" * 129], [("report_tag_keys[0]", "length 1 to 128")]),
        ([7], [("report_tag_keys[0]", "length 1 to 128")]),
        ("Team", [("report_tag_keys", "a list")]),
    ],
)
def test_the_tag_keys_of_reports_are_at_most_five_different_ones(
    keys: Any, violations: list[tuple[str, str]]
) -> None:
    assert check(report_tag_keys=keys) == violations


@pytest.mark.parametrize(
    ("usage_table", "violations"),
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
def test_an_invalid_usage_table_is_refused(
    usage_table: Any, violations: list[tuple[str, str]]
) -> None:
    assert check(usage_table=usage_table) == violations


@pytest.mark.parametrize("address", ["", "keiri@example.jp"])
def test_an_address_for_answers_is_accepted_or_cleared(address: str) -> None:
    assert check(invoice_reply_to=address) == []


@pytest.mark.parametrize("address", ["keiri", "a@b, c@d", "a@b\r\nBcc: c@d", "Keiri <a@b.jp>"])
def test_any_other_address_for_answers_is_refused(address: str) -> None:
    assert check(invoice_reply_to=address) == [("invoice_reply_to", "an e-mail address")]
