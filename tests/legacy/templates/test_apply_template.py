"""POST /v3/alm/template"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

from nimbill.access.passwords import client_secret_matches
from nimbill.database.tenant_lookup import find_organisation_id
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.jobs.records import jobs
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.auth_tokens import decrypt_token
from nimbill.legacy.stacks.stack_ids import STACK_LOOKUP
from nimbill.legacy.templates import records
from nimbill.legacy.templates.secrets import read_template_with_secrets
from tests.legacy.roles.role_requests import build_statement, create_subuser, grant_scope
from tests.legacy.templates.template_requests import (
    CRED,
    GIT_KEY,
    PATH,
    TEMPLATE,
    apply_template,
    build_template,
    master_headers,
    post_template,
    read_template,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service


def load_stack(service: Service, stack_id: str) -> Row:
    scope = TenantScope(service.organisation.organisation_id)

    async def find() -> Row | None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            return await stacks.find_stack(db, scope, stack_id)

    stack = service.run(find)
    assert stack is not None
    return stack


def test_the_response_has_the_specified_fields(service: Service) -> None:
    response = post_template(service)

    assert response.status_code == 201
    assert list(response.json()) == ["status", "stack_status", "stack_id", "version_id"]
    assert response.json()["status"] == "success"
    assert response.json()["stack_status"] == "CREATE_IN_PROGRESS"
    assert re.fullmatch(r"stk_[a-z2-7]{26}", response.json()["stack_id"])
    assert re.fullmatch(r"ver_[a-z2-7]{26}", response.json()["version_id"])


def test_the_template_can_be_read_back_without_its_secrets(service: Service) -> None:
    template = read_template(service, apply_template(service)["stack_id"])

    assert template["vendor"] == {"aws": {"cred": "***", "region": "eu-west-1"}}
    assert template["configurations"][0]["container"]["gitPrivateKey"] == "***"
    assert template["configurations"][1] == TEMPLATE["configurations"][1]
    assert list(template) == list(TEMPLATE)


def test_the_label_is_the_deployment_and_the_vendor_section_has_the_region(
    service: Service,
) -> None:
    stack = load_stack(service, apply_template(service, label="eu shop")["stack_id"])

    assert stack.deployment == "eu shop"
    assert stack.region == "eu-west-1"
    assert stack.provisioner == "local"
    assert stack.user_id == service.organisation.root_user_id
    assert stack.username == "root"


def test_the_provisioner_is_that_of_the_settings(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The template has no instances, so that nothing is launched."""
    environment = {**service.settings.environment, "NIMBILL_PROVISIONER": "aws"}
    settings = replace(service.settings, environment=environment)
    monkeypatch.setattr(service.resources, "settings", settings)
    layer = TEMPLATE["configurations"][1]
    empty_layer = layer | {"provision": layer["provision"] | {"instance_count": 0}}

    stack_id = apply_template(service, configurations=[empty_layer])["stack_id"]

    assert load_stack(service, stack_id).provisioner == "aws"


def test_a_stack_has_the_given_or_a_random_nickname(service: Service) -> None:
    without = load_stack(service, apply_template(service)["stack_id"])
    named = load_stack(service, apply_template(service, nickname="the big one")["stack_id"])

    assert re.fullmatch(r"[a-z]+-[a-z]+", without.nickname)
    assert named.nickname == "the big one"
    assert "nickname" not in read_template(service, named.stack_id)


def test_the_token_is_stored_as_hash_and_encrypted(service: Service) -> None:
    stack = load_stack(service, apply_template(service)["stack_id"])
    token = decrypt_token(stack, service.resources.encryptor)

    assert token is not None
    assert token.startswith("nb_cs_")
    assert client_secret_matches(token, stack.token_hash)
    assert token.encode() not in stack.encrypted_token


def test_stack_version_layers_job_and_lookup_are_stored_together(service: Service) -> None:
    response = apply_template(service)
    scope = TenantScope(service.organisation.organisation_id)

    async def load() -> tuple[Any, ...]:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            version = await records.find_latest_version(db, scope, response["stack_id"])
            layers = await stacks.list_layers(db, scope, response["stack_id"])
            job_types = await db.execute(
                sa.select(jobs.c.kind).where(jobs.c.subject == response["stack_id"])
            )
            owner = await find_organisation_id(db, STACK_LOOKUP, response["stack_id"])
            return version, layers, job_types.scalars().all(), owner

    version, layers, job_types, owner = service.run(load)

    assert (version.version_id, version.number) == (response["version_id"], 1)
    assert read_template_with_secrets(version, service.resources.encryptor) == TEMPLATE
    assert [layer.flag for layer in layers] == ["web", "db"]
    assert {layer.status for layer in layers} <= {"creating", "completed"}
    assert job_types[:1] == ["reconcile_stack"]
    assert owner == scope.organisation_id


FORMS: dict[str, tuple[str, bytes]] = {
    "an object": ("application/json", json.dumps(TEMPLATE).encode()),
    "a string": ("application/json", json.dumps(json.dumps(TEMPLATE)).encode()),
    "YAML": ("application/yaml", yaml.safe_dump(TEMPLATE).encode()),
    "a string of YAML": ("application/json", json.dumps(yaml.safe_dump(TEMPLATE)).encode()),
    "in body": ("application/json", json.dumps({"body": json.dumps(TEMPLATE)}).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_template_is_accepted_in_every_form(service: Service, form: str) -> None:
    content_type, body = FORMS[form]
    headers = {**master_headers(service), "Content-Type": content_type}

    response = service.http.post(PATH, content=body, headers=headers)

    assert response.status_code == 201, response.text
    assert read_template(service, response.json()["stack_id"])["label"] == "shop"


def test_a_form_is_accepted(service: Service) -> None:
    fields = {"body": json.dumps(TEMPLATE), "nickname": "red-fox"}

    plain = service.http.post(PATH, data=fields, headers=master_headers(service))
    parts = service.http.post(
        PATH,
        files={name: (None, value) for name, value in fields.items()},
        headers=master_headers(service),
    )

    for response in (plain, parts):
        assert response.status_code == 201, response.text
        assert load_stack(service, response.json()["stack_id"]).nickname == "red-fox"


def test_all_violations_are_reported_together(service: Service) -> None:
    body = build_template(version="today", label="", vendor={"aws": {"cred": 1, "region": "x"}})
    body["configurations"][0]["provision"]["instance_count"] = -1
    body["configurations"][1]["flag"] = "web"

    assert [field for field, _ in read_violations(post_template(service, body))] == [
        "version",
        "label",
        "vendor.aws.cred",
        "vendor.aws.region",
        "configurations[0].provision.instance_count",
        "configurations[1].flag",
    ]


def test_a_new_template_must_not_contain_a_mask(service: Service) -> None:
    body = build_template(vendor={"aws": {"cred": "***", "region": "eu-west-1"}})

    assert [field for field, _ in read_violations(post_template(service, body))] == ["cred"]


def test_a_refused_template_stores_nothing(service: Service) -> None:
    before = service.http.get("/v3/alm/stack", headers=master_headers(service)).json()

    read_violations(post_template(service, build_template(label=None)))

    assert service.http.get("/v3/alm/stack", headers=master_headers(service)).json() == before == []


def test_a_repeated_idempotency_key_creates_no_second_stack(service: Service) -> None:
    headers = {**master_headers(service), "Idempotency-Key": "once"}

    first = service.http.post(PATH, json=TEMPLATE, headers=headers)
    second = service.http.post(PATH, json=TEMPLATE, headers=headers)

    assert (second.status_code, second.json()) == (201, first.json())
    assert len(service.http.get("/v3/alm/stack", headers=master_headers(service)).json()) == 1


def test_the_audit_log_contains_the_template_without_its_secrets(service: Service) -> None:
    stack_id = apply_template(service, nickname="red-fox")["stack_id"]

    response = service.http.get("/m/core/audit", headers=service.root())

    (row,) = [row for row in response.json() if row["action"] == "apply_template"]
    assert row["resource"] == f"stack/{stack_id}"
    assert row["sent"]["nickname"] == "red-fox"
    assert row["sent"]["vendor"]["aws"] == {"cred": "***", "region": "eu-west-1"}
    for secret in (CRED, GIT_KEY.splitlines()[1]):
        assert secret not in response.text


def test_a_scope_can_deny_it(service: Service) -> None:
    person = create_subuser(service)
    assert service.http.post(PATH, json=TEMPLATE, headers=person.headers).status_code == 201

    grant_scope(
        service, person, build_statement(), build_statement("Deny", ["template:createAlmTemplate"])
    )

    response = service.http.post(PATH, json=TEMPLATE, headers=person.headers)
    assert read_problem(response, 403)["code"] == "scope_denied"
    assert len(service.http.get("/v3/alm/stack", headers=person.headers).json()) == 1
