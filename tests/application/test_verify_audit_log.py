"""GET /m/core/audit/verification"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.audit import batch_verification
from nimbill.database.embedded_postgres import Address
from tests.contract.superuser import connect_superuser
from tests.running_service import Service

CHANGES = 5


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows below need several batches."""
    monkeypatch.setattr(batch_verification, "BATCH_ROWS", 2)


def make_changes(service: Service) -> None:
    for number in range(CHANGES):
        project = {"project_code": f"p{number}", "project_label": "p", "project_currency": "jpy"}
        answer = service.http.post("/m/core/project", json=project, headers=service.root())
        assert answer.is_success, answer.text


def verify(service: Service) -> dict[str, Any]:
    answer = service.http.get("/m/core/audit/verification", headers=service.root())
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_an_intact_chain_is_confirmed_with_its_number_of_rows(service: Service) -> None:
    make_changes(service)

    result = verify(service)

    rows = service.http.get("/m/core/audit", headers=service.root()).json()
    assert result.pop("verified_at").endswith("Z")
    assert result == {
        "intact": True,
        "rows": len(rows),
        "checkpoints": 0,
        "first_bad_row": None,
        "reason": None,
    }
    assert len(rows) >= CHANGES


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE audit_log SET entry = replace(entry, 'p2', 'p9')", "changed"),
        ("DELETE FROM audit_log", "missing"),
    ],
)
def test_the_first_row_that_somebody_changed_is_named(
    service: Service, superuser: Address, statement: str, reason: str
) -> None:
    make_changes(service)
    rows = service.http.get("/m/core/audit", headers=service.root()).json()
    seq = next(row["seq"] for row in rows if (row["sent"] or {}).get("project_code") == "p2")

    with connect_superuser(service, superuser) as db:
        organisation_id = service.organisation.organisation_id
        db.sql(f"{statement} WHERE organisation_id = $1 AND seq = $2", organisation_id, seq)
        result = verify(service)

    assert (result["intact"], result["first_bad_row"], result["reason"]) == (False, seq, reason)
