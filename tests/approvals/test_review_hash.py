"""The hash of what is reviewed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.approvals.operations import hash_review

CONTENT: dict[str, Any] = {
    "kind": "rates",
    "target": {"month": "2026-09"},
    "body": {"exchange_rate": Decimal("150.25"), "billing_groups": ["a", "b"]},
    "review": {"groups": [{"company_id": "a", "before": None}]},
    "makers": ["usr_1", "usr_2"],
}


def test_equal_contents_have_equal_hashes() -> None:
    turned = CONTENT | {
        "body": {"billing_groups": ["a", "b"], "exchange_rate": Decimal("150.250")},
        "makers": {"usr_2", "usr_1"},
    }

    assert hash_review(**turned) == hash_review(**CONTENT)
    assert len(hash_review(**CONTENT)) == 64


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "settings"},
        {"target": {"month": "2026-10"}},
        {"body": {"exchange_rate": Decimal("150.26"), "billing_groups": ["a", "b"]}},
        {"body": {"exchange_rate": Decimal("150.25"), "billing_groups": ["b", "a"]}},
        {"review": {"groups": [{"company_id": "a", "before": Decimal(1)}]}},
        {"makers": ["usr_1"]},
    ],
)
def test_each_part_changes_the_hash(changes: dict[str, Any]) -> None:
    assert hash_review(**CONTENT | changes) != hash_review(**CONTENT)
