"""Why an invoice cannot be mailed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nimbill.issuing.deliveries.problem_rules import (
    DeliveryProblem,
    InvoiceFacts,
    find_problems,
)

READY = InvoiceFacts(
    is_sent=False,
    is_cancelled=False,
    is_outdated=False,
    lacks_approval=False,
    is_mailed_now=False,
    revision=2,
    seen_revision=None,
    has_recipient=True,
    has_portal_login=True,
    by_link=False,
    again=False,
)
SENT = replace(READY, is_sent=True)


def test_an_invoice_without_problems_can_be_mailed() -> None:
    assert find_problems(READY) == []
    assert find_problems(replace(READY, seen_revision=2)) == []
    assert find_problems(replace(READY, has_portal_login=False)) == []
    assert find_problems(replace(SENT, again=True)) == []
    assert find_problems(replace(SENT, again=True, lacks_approval=True)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"is_outdated": True}, DeliveryProblem.outdated),
        ({"lacks_approval": True}, DeliveryProblem.not_approved),
        ({"is_mailed_now": True}, DeliveryProblem.mail_in_progress),
        ({"seen_revision": 1}, DeliveryProblem.revision_changed),
        ({"has_recipient": False}, DeliveryProblem.no_contact),
        ({"by_link": True, "has_portal_login": False}, DeliveryProblem.no_portal_login),
        ({"is_sent": True}, DeliveryProblem.already_sent),
        ({"is_sent": True, "is_cancelled": True}, DeliveryProblem.cancelled),
        ({"is_sent": True, "is_cancelled": True, "again": True}, DeliveryProblem.cancelled),
    ],
)
def test_each_problem_has_one_cause(changes: dict[str, Any], problem: DeliveryProblem) -> None:
    assert find_problems(replace(READY, **changes)) == [problem]


def test_all_problems_are_listed() -> None:
    facts = replace(SENT, has_recipient=False, by_link=True, has_portal_login=False)

    assert find_problems(facts) == [
        DeliveryProblem.already_sent,
        DeliveryProblem.no_contact,
        DeliveryProblem.no_portal_login,
    ]
