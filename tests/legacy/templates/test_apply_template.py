"""POST /v3/alm/template"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

from nimbill.access.passwords import client_secret_matches
from nimbill.database.embedded_postgres import Address
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
from tests.running_service import Service, running_service


def stored_stack(service: Service, stack_id: str) -> Row:
    scope = TenantScope(service.organisation.organisation_id)

    async def find() -> Row | None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            return await stacks.find_stack(db, scope, stack_id)

    found = service.run(find)
    assert found is not None
    return found


def test_the_answer_has_the_specified_fields(service: Service) -> None:
    answer = post_template(service)

    assert answer.status_code == 201
    assert list(answer.json()) == ["status", "stack_status", "stack_id", "version_id"]
    assert answer.json()["status"] == "success"
    assert answer.json()["stack_status"] == "CREATE_IN_PROGRESS"
    assert re.fullmatch(r"stk_[a-z2-7]{26}", answer.json()["stack_id"])
    assert re.fullmatch(r"ver_[a-z2-7]{26}", answer.json()["version_id"])


def test_the_template_can_be_read_back_without_its_secrets(service: Service) -> None:
    found = read_template(service, apply_template(service)["stack_id"])

    assert found["vendor"] == {"aws": {"cred": "***", "region": "eu-west-1"}}
    assert found["configurations"][0]["container"]["gitPrivateKey"] == "***"
    assert found["configurations"][1] == TEMPLATE["configurations"][1]
    assert list(found) == list(TEMPLATE)


def test_the_first_label_names_the_deployment_and_the_vendor_the_region(service: Service) -> None:
    stack = stored_stack(service, apply_template(service, label="eu shop")["stack_id"])

    assert stack.deployment == "eu shop"
    assert stack.region == "eu-west-1"
    assert stack.provisioner == "local"
    assert stack.user_id == service.organisation.root_user_id
    assert stack.username == "root"


def test_the_provisioner_is_that_of_the_settings(empty_database: Address, tmp_path: Path) -> None:
    """With a template of no instances, so that nothing is launched anywhere."""
    layer = TEMPLATE["configurations"][1]
    none = layer | {"provision": layer["provision"] | {"instance_count": 0}}
    with running_service(empty_database.url, tmp_path, NIMBILL_PROVISIONER="aws") as other:
        stack_id = apply_template(other, configurations=[none])["stack_id"]

        assert stored_stack(other, stack_id).provisioner == "aws"


def test_a_stack_gets_two_words_or_the_nickname_it_is_given(service: Service) -> None:
    without = stored_stack(service, apply_template(service)["stack_id"])
    named = stored_stack(service, apply_template(service, nickname="the big one")["stack_id"])

    assert re.fullmatch(r"[a-z]+-[a-z]+", without.nickname)
    assert named.nickname == "the big one"
    assert "nickname" not in read_template(service, named.stack_id)


def test_the_token_is_hashed_for_logins_and_sealed_for_showing(service: Service) -> None:
    stack = stored_stack(service, apply_template(service)["stack_id"])
    token = decrypt_token(stack, service.resources.encryptor)

    assert token is not None
    assert token.startswith("nb_cs_")
    assert client_secret_matches(token, stack.token_hash)
    assert token.encode() not in stack.encrypted_token


def test_everything_is_there_once_it_is_answered(service: Service) -> None:
    answer = apply_template(service)
    scope = TenantScope(service.organisation.organisation_id)

    async def look() -> tuple[Any, ...]:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            version = await records.find_latest_version(db, scope, answer["stack_id"])
            layers = await stacks.list_layers(db, scope, answer["stack_id"])
            asked = await db.execute(
                sa.select(jobs.c.kind).where(jobs.c.subject == answer["stack_id"])
            )
            owner = await find_organisation_id(db, STACK_LOOKUP, answer["stack_id"])
            return version, layers, asked.scalars().all(), owner

    version, layers, asked, owner = service.run(look)

    assert (version.version_id, version.number) == (answer["version_id"], 1)
    assert read_template_with_secrets(version, service.resources.encryptor) == TEMPLATE
    assert [layer.flag for layer in layers] == ["web", "db"]
    assert {layer.status for layer in layers} <= {"creating", "completed"}
    assert asked[:1] == ["reconcile_stack"]
    assert owner == scope.organisation_id


FORMS: dict[str, tuple[str, bytes]] = {
    "an object": ("application/json", json.dumps(TEMPLATE).encode()),
    "a string": ("application/json", json.dumps(json.dumps(TEMPLATE)).encode()),
    "YAML": ("application/yaml", yaml.safe_dump(TEMPLATE).encode()),
    "a string of YAML": ("application/json", json.dumps(yaml.safe_dump(TEMPLATE)).encode()),
    "in body": ("application/json", json.dumps({"body": json.dumps(TEMPLATE)}).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_template_is_taken_in_every_form(service: Service, form: str) -> None:
    kind, body = FORMS[form]
    headers = {**master_headers(service), "Content-Type": kind}

    answer = service.http.post(PATH, content=body, headers=headers)

    assert answer.status_code == 201, answer.text
    assert read_template(service, answer.json()["stack_id"])["label"] == "shop"


def test_a_template_is_taken_from_a_form(service: Service) -> None:
    fields = {"body": json.dumps(TEMPLATE), "nickname": "red-fox"}

    plain = service.http.post(PATH, data=fields, headers=master_headers(service))
    parts = service.http.post(
        PATH,
        files={name: (None, value) for name, value in fields.items()},
        headers=master_headers(service),
    )

    for answer in (plain, parts):
        assert answer.status_code == 201, answer.text
        assert stored_stack(service, answer.json()["stack_id"]).nickname == "red-fox"


def test_every_broken_rule_is_named_at_once(service: Service) -> None:
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


def test_a_mask_is_no_secret_to_begin_with(service: Service) -> None:
    body = build_template(vendor={"aws": {"cred": "***", "region": "eu-west-1"}})

    assert [field for field, _ in read_violations(post_template(service, body))] == ["cred"]


def test_a_refused_template_leaves_nothing(service: Service) -> None:
    before = service.http.get("/v3/alm/stack", headers=master_headers(service)).json()

    read_violations(post_template(service, build_template(label=None)))

    assert service.http.get("/v3/alm/stack", headers=master_headers(service)).json() == before == []


def test_a_repeat_with_the_same_key_makes_no_second_stack(service: Service) -> None:
    headers = {**master_headers(service), "Idempotency-Key": "once"}

    first = service.http.post(PATH, json=TEMPLATE, headers=headers)
    second = service.http.post(PATH, json=TEMPLATE, headers=headers)

    assert (second.status_code, second.json()) == (201, first.json())
    assert len(service.http.get("/v3/alm/stack", headers=master_headers(service)).json()) == 1


def test_the_audit_row_has_the_template_without_its_secrets(service: Service) -> None:
    stack_id = apply_template(service, nickname="red-fox")["stack_id"]

    answer = service.http.get("/m/core/audit", headers=service.root())

    (row,) = [row for row in answer.json() if row["action"] == "apply_template"]
    assert row["resource"] == f"stack/{stack_id}"
    assert row["sent"]["nickname"] == "red-fox"
    assert row["sent"]["vendor"]["aws"] == {"cred": "***", "region": "eu-west-1"}
    for secret in (CRED, GIT_KEY.splitlines()[1]):
        assert secret not in answer.text


def test_a_scope_may_forbid_it(service: Service) -> None:
    person = create_subuser(service)
    assert service.http.post(PATH, json=TEMPLATE, headers=person.headers).status_code == 201

    grant_scope(
        service, person, build_statement(), build_statement("Deny", ["template:createAlmTemplate"])
    )

    answer = service.http.post(PATH, json=TEMPLATE, headers=person.headers)
    assert read_problem(answer, 403)["code"] == "scope_denied"
    assert len(service.http.get("/v3/alm/stack", headers=person.headers).json()) == 1
