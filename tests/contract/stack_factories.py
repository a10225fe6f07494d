"""Creates records of version 3: stacks, containers, deployments."""

from __future__ import annotations

import json
from typing import Any

from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.legacy.templates.secrets import encrypt_secrets, mask_secrets
from tests.contract.tenants import Tenant


def add_stack(tenant: Tenant) -> tuple[str, str]:
    """The id of a stack that is not in progress, and the name of its deployment."""
    stack_id, deployment, at = new_id("stk"), tenant.word("d"), clock.now()
    version_id = new_id("ver")
    tenant.add(
        "legacy_stacks",
        stack_id=stack_id,
        nickname=tenant.word("n"),
        deployment=deployment,
        provisioner="local",
        region="ap-northeast-1",
        stack_status="CREATE_COMPLETE",
        version_id=version_id,
        user_id=tenant.organisation.root_user_id,
        username="root",
        token_hash=b"none",
        create_time=at,
        update_time=at,
    )
    body, secrets = mask_secrets(template_body(tenant))
    place = (tenant.organisation_id, stack_id, version_id)
    tenant.add(
        "legacy_template_versions",
        stack_id=stack_id,
        version_id=version_id,
        number=1,
        body=json.dumps(body),
        encrypted_secrets=encrypt_secrets(secrets, tenant.service.resources.encryptor, place),
        size=1,
        create_time=at,
    )
    tenant.add("tenant_lookups", kind="stack", key=stack_id)
    return stack_id, deployment


def template_body(tenant: Tenant) -> dict[str, Any]:
    """A template whose texts, including the credential, belong to the tenant."""
    provision = {
        "image": tenant.word("i"),
        "volume_type": "${computed}",
        "instance_type": "t3.small",
        "instance_count": 1,
        "keypair": False,
    }
    return {
        "version": "2026-11-15",
        "label": tenant.word("l"),
        "description": tenant.word("t"),
        "vendor": {"aws": {"cred": tenant.word("k"), "region": "ap-northeast-1"}},
        "configurations": [
            {
                "role": tenant.word("r"),
                "flag": "web",
                "provision": provision,
                "container": {"image": tenant.word("i")},
            }
        ],
    }


def make_stack(tenant: Tenant) -> str:
    return add_stack(tenant)[0]


def add_container(tenant: Tenant) -> dict[str, str]:
    """A container in a new stack, reported once."""
    container = {
        "stack_id": make_stack(tenant),
        "container_id": tenant.word("c"),
        "instance_id": tenant.word("i"),
        "agent_id": tenant.word("a"),
        "status": "running",
    }
    tenant.add("legacy_containers", update_time=clock.now(), **container)
    return container


def make_container(tenant: Tenant) -> str:
    return add_container(tenant)["container_id"]


def make_stack_with_container(tenant: Tenant) -> str:
    return add_container(tenant)["stack_id"]


def make_instance_with_container(tenant: Tenant) -> str:
    """The same instance every time, because its containers are listed without their stack."""
    rows = tenant.superuser.sql(
        "SELECT instance_id FROM legacy_containers WHERE organisation_id = $1"
        " AND instance_id LIKE $2 ORDER BY update_time LIMIT 1",
        tenant.organisation_id,
        f"{tenant.canary}-%",
    )
    return str(rows[0]["instance_id"]) if rows else add_container(tenant)["instance_id"]


def make_deployment(tenant: Tenant) -> str:
    return add_stack(tenant)[1]
