"""A database that goes away is answered 503, and its return needs no restart of ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from nimbill.database.embedded_postgres import embedded_postgres
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.database.test_embedded_postgres import kill_server
from tests.problem_responses import read_problem
from tests.running_service import Service, running_service

GROUPS = "/m/core/billinggroup"
ANSWER_SECONDS_MAX = 50  # a watchdog at ten times the promise, not a measure of speed


def asked(service: Service, number: int) -> list[Any]:
    """A read, a change and a token."""
    body = REQUIRED_FIELDS | {"billinggroup_id": f"BG-{number}"}
    client = {
        "grant_type": "client_credentials",
        "client_id": service.organisation.client_id,
        "client_secret": service.organisation.client_secret,
    }
    return [
        service.http.get(GROUPS, headers=service.root()),
        service.http.post(GROUPS, json=body, headers=service.root()),
        service.http.post("/core/access_token", data=client),
    ]


def test_a_database_that_goes_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    with embedded_postgres(folder) as address, running_service(address.url, tmp_path) as service:
        assert {answer.status_code for answer in asked(service, 0)} == {200}

        kill_server(folder)
        began = time.monotonic()
        away = asked(service, 1)
        readiness = service.http.get("/readyz")
        took = time.monotonic() - began
        alive = service.http.get("/healthz")

        for answer in (*away, readiness):
            assert read_problem(answer, 503)["code"] == "database_away"
            assert int(answer.headers["retry-after"]) > 0
        assert took < ANSWER_SECONDS_MAX
        assert alive.status_code == 200

        with embedded_postgres(folder):
            asked(service, 2)  # whatever the pool still holds is given up here
            assert [answer.status_code for answer in asked(service, 3)] == [200, 200, 200]
            assert service.http.get("/readyz").status_code == 200
            listed = service.http.get(GROUPS, headers=service.root()).json()

        stored = {record["billinggroup_id"] for record in listed}
        assert {"BG-0", "BG-3"} <= stored
        assert "BG-1" not in stored
