"""Requests in the shapes that published clients send, from the files recorded_requests.json.

`status` is what the service answers, `reads` lists what the client reads in the answer, `keep`
names values that later requests contain, and a request with `repeat` is sent twice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from nimbill.legacy.token_product import LEGACY  # version 3
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.legacy.templates.template_requests import apply_template  # version 3
from tests.running_service import PASSWORD, Service

FOLDER = Path(__file__).parent
RECORDED: list[dict[str, Any]] = json.loads((FOLDER / "recorded_requests.json").read_text())
RECORDED += json.loads((FOLDER.parent / "legacy/recorded_requests.json").read_text())  # version 3


def read_path(answer: Any, path: str) -> Any:
    """KeyError or IndexError if the answer lacks what the client reads."""
    for step in path.split("."):
        answer = answer[int(step) if step.isdigit() else step]
    return answer


class Replay:
    """Sends recorded requests of one organisation in order."""

    def __init__(self, service: Service) -> None:
        self.service = service
        service.organisation = service.new_organisation("Clients")
        who = service.organisation
        bearer = len("Bearer ")
        self.values = {
            "client_id": who.client_id,
            "client_secret": who.client_secret,
            "username": "root",
            "password": PASSWORD.replace(" ", "%20"),
            "user_id": who.root_user_id,
            "core_token": service.root()["Authorization"][bearer:],
            "user_token": service.root(product=LEGACY)["Authorization"][bearer:],  # version 3
            "company_id": create_billing_group(service, service.root(), billinggroup_id="BG-1"),
            "stack_id": apply_template(service)["stack_id"],  # version 3
        }

    def send(self, recorded: dict[str, Any]) -> httpx.Response:
        headers = {name: self._fill(text) for name, text in recorded["headers"].items()}
        body = self._fill(recorded["body"])
        if "multipart" in headers.get("Content-Type", ""):
            body = body.replace("%20", " ")
        path = self._fill(recorded["path"])
        response = self.service.http.request(
            recorded["method"], path, content=body.encode(), headers=headers
        )
        for name, read in recorded.get("keep", {}).items():
            self.values[name] = read_path(response.json(), read)
        return response

    def _fill(self, text: str) -> str:
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text


@pytest.fixture(scope="module")
def answers(running: Service) -> dict[str, list[httpx.Response]]:
    """The answers by client; a request that is repeated has two."""
    replay = Replay(running)
    return {
        recorded["client"]: [replay.send(recorded) for _ in range(1 + ("repeat" in recorded))]
        for recorded in RECORDED
    }


@pytest.mark.parametrize("recorded", RECORDED, ids=[each["client"] for each in RECORDED])
def test_a_published_client_finds_what_it_reads(
    answers: dict[str, list[httpx.Response]], recorded: dict[str, Any]
) -> None:
    for response in answers[recorded["client"]]:
        assert response.status_code == recorded["status"], response.text
        for path in recorded["reads"]:
            read_path(response.json(), path)


def test_a_repeated_report_changes_nothing(  # version 3
    answers: dict[str, list[httpx.Response]],
) -> None:
    """The published agent repeats a report that is answered 202."""
    repeated = [each["client"] for each in RECORDED if "repeat" in each]

    assert len(repeated) == 2
    for client in repeated:
        first, second = ({**each.json(), "update_time": ""} for each in answers[client])
        assert first == second


def test_the_flag_of_the_sample_is_stored_under_its_own_name(
    answers: dict[str, list[httpx.Response]],
) -> None:
    (listed,) = answers["Python sample, list reseller accounts"]

    ((record),) = listed.json()
    assert record["meta"]["aq_link"] is True
    assert "aqua_link" not in record["meta"]


def test_values_have_the_types_that_the_agent_reads(  # version 3
    answers: dict[str, list[httpx.Response]],
) -> None:
    configuration = answers["Go agent, configuration"][0].json()
    types = {
        "container_image": str,
        "container_env_vars": dict,
        "container_ports": list,
        "container_updated": int,
        "container_users": list,
        "container_storage": type(None),
    }

    assert {name: type(configuration[name]) for name in types} == types
    (described,) = answers["Go CLI, stack describe"]
    assert isinstance(described.json()["instances"], dict)
