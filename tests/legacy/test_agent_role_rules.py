"""The ARN of the role whose temporary credentials agents receive."""

import pytest

from nimbill.customers.organisation_settings.agent_role_rules import find_role_violations


@pytest.mark.parametrize(
    "role_arn",
    [
        "arn:aws:iam::123456789012:role/agents",
        "arn:aws-cn:iam::123456789012:role/path/agents",
        "arn:aws-us-gov:iam::123456789012:role/a+=,.@-_b",
        "",
        None,
    ],
)
def test_a_role_or_nothing_is_allowed(role_arn: str | None) -> None:
    assert list(find_role_violations({"agent_role_arn": role_arn})) == []


@pytest.mark.parametrize(
    "role_arn",
    [
        "agents",
        "arn:aws:iam::12345678901:role/agents",
        "arn:aws:iam::123456789012:user/agents",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:role/a b",
        "arn:aws:iam::123456789012:role/agents\n",
    ],
)
def test_anything_else_is_refused(role_arn: str) -> None:
    (violation,) = find_role_violations({"agent_role_arn": role_arn})

    assert violation.field == "agent_role_arn"
    assert "arn:aws:iam::123456789012:role/agents" in violation.rule


@pytest.mark.parametrize("sent", [{}, {"agent_role_arn": 7}])
def test_other_values_are_left_to_the_check_of_types(sent: dict[str, object]) -> None:
    assert list(find_role_violations(sent)) == []
