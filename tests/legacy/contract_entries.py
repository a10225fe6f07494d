"""What version 3 adds to the tables of tests/contract: operations, records and bodies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.legacy.templates.secrets import encrypt_secrets, mask_secrets
from tests.contract.tenants import RecordReference, Tenant, make_user, make_username


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


def make_legacy_role(tenant: Tenant) -> str:
    role_id, at = new_id("rol"), clock.now()
    tenant.add(
        "legacy_roles",
        role_id=role_id,
        user_id=tenant.organisation.root_user_id,
        name=tenant.word("r"),
        scope='{"version": "1", "Statement": []}',
        create_time=at,
        update_time=at,
    )
    return role_id


def make_attached_role(tenant: Tenant) -> str:
    """A role with one user, whom `find_last_role_holder` returns."""
    role_id, at = make_legacy_role(tenant), clock.now()
    tenant.add(
        "legacy_user_roles",
        user_role_id=new_id("uro"),
        role_id=role_id,
        user_id=make_user(tenant),
        create_time=at,
        update_time=at,
    )
    return role_id


def find_last_role_holder(tenant: Tenant) -> str:
    """The user of the role that was attached last."""
    rows = tenant.superuser.sql(
        "SELECT username FROM users JOIN legacy_user_roles r USING (organisation_id, user_id)"
        " WHERE organisation_id = $1 ORDER BY r.create_time DESC LIMIT 1",
        tenant.organisation_id,
    )
    return str(rows[0]["username"]) if rows else make_username(tenant)


STACK = RecordReference(make_stack, "legacy_stacks", "stack_id")
NAME_ALONE = RecordReference(make_username, "users", "username")
LEGACY_REFERENCES: Mapping[str, RecordReference] = {
    **{
        f"{verb}_deployment.name": RecordReference(make_deployment, "legacy_stacks", "deployment")
        for verb in ("read", "delete")
    },
    "role_id": RecordReference(make_legacy_role, "legacy_roles", "role_id"),
    "detach_legacy_role.role_id": RecordReference(make_attached_role, "legacy_roles", "role_id"),
    "list_legacy_roles_of_user.username": NAME_ALONE,
    **{f"{verb}_legacy_role.username": NAME_ALONE for verb in ("attach", "reattach")},
    "detach_legacy_role.username": RecordReference(find_last_role_holder, "users", "username"),
    "stack_id": STACK,
    "compare_templates.id": STACK,
    "describe_container.container_id": RecordReference(
        make_container, "legacy_containers", "container_id"
    ),
    "list_containers.stack_id": RecordReference(
        make_stack_with_container, "legacy_containers", "stack_id"
    ),
    "list_containers.instance_id": RecordReference(
        make_instance_with_container, "legacy_containers", "instance_id"
    ),
}
NOT_A_LEGACY_RECORD: Mapping[str, str] = {
    "agent_id": "chosen by the agent",
    "container_id": "chosen by the agent",
    "instance_id": "chosen by the vendor or the agent",
}
# the role actions of each operation
LEGACY_OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "read_deployment": ("ReadDeployment", "ModifyDeployment"),
    "delete_deployment": ("ModifyDeployment",),
    # the others have scopes instead of role actions
    "apply_template": (),
    "update_template": (),
    "compare_templates": (),
    "list_template_versions": (),
    "read_template": (),
    "list_stacks": (),
    "describe_stack": (),
    "delete_stack": (),
    "describe_container": (),
    "list_containers": (),
    "report_agent_status": (),
    "report_container_status": (),
    "read_agent_configuration": (),
    "issue_stack_credentials": (),
    "issue_log_credentials": (),
    "create_legacy_role": (),
    "update_legacy_role": (),
    "delete_legacy_role": (),
    "list_legacy_roles": (),
    "list_legacy_roles_of_user": (),
    "list_own_legacy_roles": (),
    "attach_legacy_role": (),
    "reattach_legacy_role": (),
    "detach_legacy_role": (),
    "list_role_templates": (),
}


def legacy_role_body(tenant: Tenant) -> dict[str, Any]:
    return {"name": tenant.word("r"), "scope": '{"version": "1", "Statement": []}'}


def applied_body(tenant: Tenant) -> dict[str, Any]:
    return template_body(tenant) | {"nickname": tenant.word("n")}


def compared_body(tenant: Tenant) -> dict[str, Any]:
    return {
        "id": [{make_stack(tenant): {"version": "latest"}}],
        "body": [json.dumps(template_body(tenant))],
    }


LEGACY_BODIES: Mapping[str, Callable[[Tenant], Any]] = {
    "create_legacy_role": legacy_role_body,
    "update_legacy_role": legacy_role_body,
    "attach_legacy_role": lambda tenant: {
        "username": make_username(tenant),
        "role_id": make_legacy_role(tenant),
    },
    "reattach_legacy_role": lambda tenant: {"username": make_username(tenant)},
    "detach_legacy_role": lambda _: {},
    "apply_template": applied_body,
    "update_template": applied_body,
    "compare_templates": compared_body,
    "report_agent_status": lambda tenant: {
        "stack_id": make_stack(tenant),
        "agent_id": tenant.word("a"),
        "status": "starting",
        "instance_id": tenant.word("i"),
        "message": tenant.word("m"),
    },
    "report_container_status": add_container,
}
