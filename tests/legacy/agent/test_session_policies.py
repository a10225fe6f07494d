"""Session policies are limited to the resources of one stack."""

from __future__ import annotations

import json

from nimbill.foundation.ids import new_id
from nimbill.legacy.agent.session_credentials import build_logs_policy, build_stack_policy

POLICY_LENGTH_MAX = 2_048  # of AWS, for session policies


def test_everything_that_the_stack_policy_allows_needs_the_tag_of_the_stack() -> None:
    statements = json.loads(build_stack_policy("stk_a"))["Statement"]

    assert [each["Condition"] for each in statements if each["Effect"] == "Allow"] == [
        {"StringEquals": {"aws:ResourceTag/nimbill:stack": "stk_a"}}
    ]


def test_no_agent_may_change_the_tags() -> None:
    statements = json.loads(build_stack_policy("stk_a"))["Statement"]

    (denied,) = [each for each in statements if each["Effect"] == "Deny"]
    assert {"ec2:CreateTags", "ec2:DeleteTags"} <= set(denied["Action"])
    assert (denied["Resource"], "Condition" in denied) == ("*", False)


def test_the_logs_policy_allows_log_groups_with_the_id_of_the_stack() -> None:
    (statement,) = json.loads(build_logs_policy("stk_a", "cn-north-1", "aws-cn"))["Statement"]

    assert statement["Resource"] == "arn:aws-cn:logs:cn-north-1:*:log-group:*stk_a*"
    assert all(action.startswith("logs:") for action in statement["Action"])


def test_the_policies_are_short_enough_for_a_session() -> None:
    stack_id = new_id("stk")

    assert len(build_stack_policy(stack_id)) < POLICY_LENGTH_MAX
    assert len(build_logs_policy(stack_id, "ap-northeast-1", "aws")) < POLICY_LENGTH_MAX
