"""The two templates of a comparison: found among the stored versions, or read from the request."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Violation, not_found, refuse_if
from nimbill.legacy.roles.permission import Permission
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.templates import records
from nimbill.legacy.templates.bodies import (
    Comparison,
    Edited,
    TemplateDifference,
    TemplatesCompared,
)
from nimbill.legacy.templates.compare import difference
from nimbill.legacy.templates.reading import given_in
from nimbill.legacy.templates.secrets import masked, opened, secrets_of, unmasked

COMPARE = "template:compareTemplate"
LATEST = ("", "latest")


def resource_of(stack_id: str) -> str:
    return f"mrn:alm:template:{stack_id}"


async def find_template(
    db: AsyncConnection, scope: TenantScope, stack_id: str, version_id: str | None
) -> Row | None:
    """A version of a stack that is there; without a version id the most recent one."""
    if await stacks.find_stack(db, scope, stack_id) is None:
        return None
    if version_id is None or version_id in LATEST:
        return await records.latest_version(db, scope, stack_id)
    return await records.find_version(db, scope, stack_id, version_id)


async def read_template(
    db: AsyncConnection, scope: TenantScope, stack_id: str, version_id: str | None
) -> Row:
    found = await find_template(db, scope, stack_id, version_id)
    if found is None:
        raise not_found()
    return found


async def compare_templates(
    db: AsyncConnection,
    scope: TenantScope,
    permission: Permission,
    encryptor: Encryptor,
    body: Comparison,
) -> TemplatesCompared:
    """The scope is asked for every stack before any is looked for."""
    named = [next(iter(item.items())) for item in body.id]
    for stack_id, _ in named:
        permission.refuse_unless(COMPARE, resource_of(stack_id))
    rows = [await find_template(db, scope, stack, one.version) for stack, one in named]
    refuse_if(
        [
            Violation(f"id[{index}]", "a stack and a version of it that are there")
            for index, row in enumerate(rows)
            if row is None
        ]
    )
    found = [row for row in rows if row is not None]
    templates = [opened(row, encryptor) for row in found]
    for index, given in enumerate(body.body or []):
        # a mask in what is given stands for what the stored one has there
        template = given_in(given, f"body[{index}]").template
        templates.append(unmasked(template, secrets_of(found[0], encryptor)))
    source, target = templates
    return _answer(source, target)


def _answer(source: dict[str, Any], target: dict[str, Any]) -> TemplatesCompared:
    found = difference(source, target)
    return TemplatesCompared(
        source=masked(source)[0],
        target=masked(target)[0],
        diff=TemplateDifference(
            new=found.new,
            removed=found.removed,
            edited={
                at: Edited(oldvalue=edit.oldvalue, newvalue=edit.newvalue)
                for at, edit in found.edited.items()
            },
        ),
    )
