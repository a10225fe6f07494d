"""Comparison of two stored templates, or of a stored template with one in the request."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Violation, not_found, refuse_if
from nimbill.legacy.roles.permissions import Permission
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.templates import records
from nimbill.legacy.templates.bodies import (
    Comparison,
    Edited,
    TemplateDifference,
    TemplatesCompared,
)
from nimbill.legacy.templates.secrets import (
    decrypt_secrets,
    mask_secrets,
    read_template_with_secrets,
    restore_secrets,
)
from nimbill.legacy.templates.template_diff import find_differences
from nimbill.legacy.templates.template_parser import parse_template

COMPARE_TEMPLATE = "template:compareTemplate"
LATEST = ("", "latest")


def format_template_resource(stack_id: str) -> str:
    return f"mrn:alm:template:{stack_id}"


async def find_template(
    db: AsyncConnection, scope: TenantScope, stack_id: str, version_id: str | None
) -> Row | None:
    """None if there is no such stack or version; without a version id, the most recent one."""
    if await stacks.find_stack(db, scope, stack_id) is None:
        return None
    if version_id is None or version_id in LATEST:
        return await records.find_latest_version(db, scope, stack_id)
    return await records.find_version(db, scope, stack_id, version_id)


async def read_template(
    db: AsyncConnection, scope: TenantScope, stack_id: str, version_id: str | None
) -> Row:
    version = await find_template(db, scope, stack_id, version_id)
    if version is None:
        raise not_found()
    return version


async def compare_templates(
    db: AsyncConnection,
    scope: TenantScope,
    permission: Permission,
    encryptor: Encryptor,
    body: Comparison,
) -> TemplatesCompared:
    """Check the permission for every stack before looking for any of them."""
    items = [next(iter(item.items())) for item in body.id]
    for stack_id, _ in items:
        permission.require(COMPARE_TEMPLATE, format_template_resource(stack_id))
    rows = [
        await find_template(db, scope, stack_id, compared.version) for stack_id, compared in items
    ]
    refuse_if(
        [
            Violation(f"id[{index}]", "an existing stack and version")
            for index, row in enumerate(rows)
            if row is None
        ]
    )
    versions = [row for row in rows if row is not None]
    templates = [read_template_with_secrets(version, encryptor) for version in versions]
    for index, sent in enumerate(body.body or []):
        # a mask in a sent template stands for the secret of the stored one
        template = parse_template(sent, f"body[{index}]").template
        templates.append(restore_secrets(template, decrypt_secrets(versions[0], encryptor)))
    source, target = templates
    return _to_body(source, target)


def _to_body(source: dict[str, Any], target: dict[str, Any]) -> TemplatesCompared:
    found = find_differences(source, target)
    return TemplatesCompared(
        source=mask_secrets(source)[0],
        target=mask_secrets(target)[0],
        diff=TemplateDifference(
            new=found.new,
            removed=found.removed,
            edited={
                path: Edited(oldvalue=edit.oldvalue, newvalue=edit.newvalue)
                for path, edit in found.edited.items()
            },
        ),
    )
