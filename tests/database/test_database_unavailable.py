"""Requests get 503 while the database is down, and succeed again without a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nimbill.database.embedded_postgres import embedded_postgres
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.database.server_processes import kill_server
from tests.problem_responses import read_problem
from tests.running_service import Service, running_service

GROUPS = "/m/core/billinggroup"


def send_requests(service: Service, number: int) -> list[Any]:
    """A read, a change and a login."""
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


# Takes seconds: it creates a server of its own, because it kills it.
def test_requests_fail_while_the_database_is_down_and_then_succeed_again(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    with embedded_postgres(folder) as address, running_service(address.url, tmp_path) as service:
        assert {response.status_code for response in send_requests(service, 0)} == {200}

        kill_server(folder)
        refused = send_requests(service, 1)
        readiness = service.http.get("/readyz")
        health = service.http.get("/healthz")

        for response in (*refused, readiness):
            assert read_problem(response, 503)["code"] == "database_away"
            assert int(response.headers["retry-after"]) > 0
        assert health.status_code == 200

        with embedded_postgres(folder):
            send_requests(service, 2)  # may still get lost connections of the pool
            assert [response.status_code for response in send_requests(service, 3)] == [
                200,
                200,
                200,
            ]
            assert service.http.get("/readyz").status_code == 200
            listed = service.http.get(GROUPS, headers=service.root()).json()

        stored = {record["billinggroup_id"] for record in listed}
        assert {"BG-0", "BG-3"} <= stored
        assert "BG-1" not in stored
