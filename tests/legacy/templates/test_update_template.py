"""PUT /v3/alm/template/{stack_id}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation.ids import new_id
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.templates import records
from nimbill.legacy.templates.secrets import read_template_with_secrets
from tests.legacy.agents import set_stack_status
from tests.legacy.roles.role_requests import build_statement, create_subuser, grant_scope
from tests.legacy.templates.template_requests import (
    CRED,
    GIT_KEY,
    PATH,
    TEMPLATE,
    apply_template,
    build_template,
    master_headers,
    put_template,
    read_template,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service


def load_latest_version(service: Service, stack_id: str) -> Row:
    scope = TenantScope(service.organisation.organisation_id)

    async def find() -> Row | None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            return await records.find_latest_version(db, scope, stack_id)

    version = service.run(find)
    assert version is not None
    return version


def read_layers(service: Service, stack_id: str) -> dict[str, str]:
    scope = TenantScope(service.organisation.organisation_id)

    async def find() -> dict[str, str]:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            found = await stacks.list_layers(db, scope, stack_id)
            return {layer.flag: layer.status for layer in found}

    return service.run(find)


def read_secrets(service: Service, stack_id: str) -> tuple[str, str]:
    found = read_template_with_secrets(
        load_latest_version(service, stack_id), service.resources.encryptor
    )
    return (
        found["vendor"]["aws"]["cred"],
        found["configurations"][0]["container"]["gitPrivateKey"],
    )


def test_the_response_has_the_specified_fields(service: Service) -> None:
    first = apply_template(service)

    response = put_template(service, first["stack_id"], build_template(label="two"))

    assert response.status_code == 202
    assert list(response.json()) == ["status", "stack_status", "stack_id", "version_id"]
    assert response.json()["status"] == "success"
    assert response.json()["stack_status"] == "UPDATE_IN_PROGRESS"
    assert response.json()["stack_id"] == first["stack_id"]
    assert response.json()["version_id"] != first["version_id"]
    assert read_template(service, first["stack_id"])["label"] == "two"


@pytest.mark.parametrize(
    "vendor", [None, {"aws": {"cred": "other", "region": "us-east-1"}}, {"gcp": {}}, "junk", 7]
)
def test_the_vendor_section_is_ignored(service: Service, vendor: Any) -> None:
    stack_id = apply_template(service)["stack_id"]

    assert put_template(service, stack_id, build_template(vendor=vendor)).status_code == 202

    assert read_template(service, stack_id)["vendor"] == {
        "aws": {"cred": "***", "region": "eu-west-1"}
    }
    assert read_secrets(service, stack_id)[0] == CRED


def test_a_template_can_be_read_and_sent_back(service: Service) -> None:
    """Masks keep the secrets through any number of versions."""
    stack_id = apply_template(service)["stack_id"]

    for count in (3, 4):
        sent = read_template(service, stack_id)
        sent["configurations"][0]["provision"]["instance_count"] = count
        sent["configurations"].reverse()
        sent["configurations"].sort(key=lambda layer: layer["flag"], reverse=True)
        assert put_template(service, stack_id, sent).status_code == 202

    assert load_latest_version(service, stack_id).number == 3
    assert read_secrets(service, stack_id) == (CRED, GIT_KEY)


def test_a_secret_can_change(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    sent = read_template(service, stack_id)
    sent["configurations"][0]["container"]["gitPrivateKey"] = "another key"

    assert put_template(service, stack_id, sent).status_code == 202

    assert read_secrets(service, stack_id) == (CRED, "another key")


def test_a_mask_without_a_stored_secret_is_refused(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    sent = read_template(service, stack_id)
    sent["configurations"][1]["container"] = {"gitPrivateKey": "***"}

    response = put_template(service, stack_id, sent)

    assert [field for field, _ in read_violations(response)] == ["gitPrivateKey"]
    assert load_latest_version(service, stack_id).number == 1


def test_layers_are_updated_added_and_removed(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    web, db = TEMPLATE["configurations"]

    sent = build_template(configurations=[db | {"flag": "cache"}, web])
    assert put_template(service, stack_id, sent).status_code == 202

    found = read_layers(service, stack_id)
    assert list(found) == ["cache", "web"]
    assert found["cache"] in ("creating", "completed")
    assert found["web"] in ("updating", "completed")


def test_an_unchanged_template_is_a_new_version(service: Service) -> None:
    first = apply_template(service)

    repeated = put_template(service, first["stack_id"]).json()

    assert repeated["version_id"] != first["version_id"]
    assert load_latest_version(service, first["stack_id"]).number == 2


def test_the_deployment_keeps_the_first_label_and_the_nickname_can_change(service: Service) -> None:
    stack_id = apply_template(service, nickname="before")["stack_id"]

    put_template(service, stack_id, build_template(label="later"))
    kept = service.http.get(f"/v3/alm/stack/{stack_id}", headers=master_headers(service)).json()
    put_template(service, stack_id, build_template(nickname="after"))
    renamed = service.http.get(f"/v3/alm/stack/{stack_id}", headers=master_headers(service)).json()

    assert (kept["nickname"], renamed["nickname"]) == ("before", "after")
    assert service.http.get("/m/core/v0/deployments/shop", headers=service.root()).is_success
    assert not service.http.get("/m/core/v0/deployments/later", headers=service.root()).is_success


def test_an_update_can_follow_another_in_progress(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    assert [put_template(service, stack_id).status_code for _ in range(3)] == [202, 202, 202]


@pytest.mark.parametrize(
    "status", ["CREATE_FAILED", "UPDATE_COMPLETE", "UPDATE_FAILED", "DELETE_FAILED"]
)
def test_an_update_is_allowed_unless_the_stack_is_being_deleted(
    service: Service, status: str
) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, status)

    response = put_template(service, stack_id)

    assert (response.status_code, response.json()["stack_status"]) == (202, "UPDATE_IN_PROGRESS")


def test_a_stack_that_is_being_deleted_cannot_be_updated(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, "DELETE_IN_PROGRESS")

    assert read_problem(put_template(service, stack_id), 409)["code"] == "stack_leaving"
    assert load_latest_version(service, stack_id).number == 1


def test_a_deleted_stack_is_not_found(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, "DELETE_COMPLETE")

    read_problem(put_template(service, stack_id), 404)
    read_problem(put_template(service, new_id("stk")), 404)


def test_a_refused_update_changes_nothing(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    assert read_violations(put_template(service, stack_id, build_template(configurations=[])))

    assert load_latest_version(service, stack_id).number == 1
    assert list(read_layers(service, stack_id)) == ["web", "db"]


def test_a_scope_can_allow_the_update_of_one_stack_only(
    service: Service,
) -> None:
    person = create_subuser(service)
    allowed, denied = apply_template(service)["stack_id"], apply_template(service)["stack_id"]
    grant_scope(
        service, person, build_statement("Allow", ["template:*"], [f"mrn:alm:template:{allowed}"])
    )

    responses = [
        service.http.put(f"{PATH}/{stack_id}", json=TEMPLATE, headers=person.headers)
        for stack_id in (allowed, denied, new_id("stk"))
    ]

    assert [response.status_code for response in responses] == [202, 403, 403]
    assert responses[1].json()["code"] == responses[2].json()["code"] == "scope_denied"
