"""What may be done with templates: applied, they make a stack; updated, they move it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.passwords import hash_client_secret
from nimbill.access.request_context import Resources
from nimbill.database.tenant_lookup import add_lookup
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.legacy.settings import read_legacy_settings
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.auth_tokens import new_token, sealed_token
from nimbill.legacy.stacks.nicknames import two_words
from nimbill.legacy.stacks.stack_ids import STACK_LOOKUP, new_stack_id
from nimbill.legacy.stacks.stack_moves import APPLY, UPDATE, StackStatus, may
from nimbill.legacy.templates import records
from nimbill.legacy.templates.reading import Given
from nimbill.legacy.templates.secrets import masked, sealed, secrets_of, still_masked, unmasked
from nimbill.legacy.templates.template_rules import template_violations

basis = chosen("template-update")


@dataclass(frozen=True, slots=True)
class Applied:
    stack_id: str
    version_id: str
    stack_status: StackStatus


async def apply_template(
    db: AsyncConnection, caller: Caller, resources: Resources, given: Given
) -> Applied:
    """Makes a stack, its layers and its first version, and asks for it to be launched."""
    template = given.template
    refuse_if([*template_violations(template, creating=True), *still_masked(template)])
    scope, at = caller.scope, clock.now()
    stack_id, version_id, token = new_stack_id(), new_id("ver"), new_token()
    await add_lookup(db, scope, STACK_LOOKUP, stack_id)
    await stacks.add_stack(
        db,
        scope,
        at=at,
        stack_id=stack_id,
        nickname=given.nickname or two_words(),
        deployment=template["label"],
        provisioner=read_legacy_settings(resources.settings).provisioner,
        region=template["vendor"]["aws"]["region"],
        stack_status=APPLY.after,
        version_id=version_id,
        user_id=caller.user_id,
        username=caller.username,
        token_hash=hash_client_secret(token),
        sealed_token=sealed_token(token, resources.encryptor, scope, stack_id),
    )
    await stacks.put_layers(db, scope, stack_id, _flags(template))
    await _keep(db, scope, resources.encryptor, template, stack_id, version_id, number=1)
    await stacks.ask_to_move(db, scope, stack_id)
    return Applied(stack_id, version_id, APPLY.after)


async def update_template(
    db: AsyncConnection, caller: Caller, resources: Resources, stack_id: str, given: Given
) -> Applied:
    """A new version under the vendor the stack was created with; refuses a stack that is leaving.

    A secret sent back as *** stays what it was.
    """
    scope, at = caller.scope, clock.now()
    stack = await stacks.find_stack(db, scope, stack_id, lock=True)
    before = await records.latest_version(db, scope, stack_id)
    if stack is None or before is None or stack.stack_status == StackStatus.DELETE_COMPLETE:
        raise not_found()
    template = _with_vendor_of(before, given.template)
    template = unmasked(template, secrets_of(before, resources.encryptor))
    refuse_if([*template_violations(template, creating=False), *still_masked(template)])
    if not may(UPDATE, stack.stack_status):
        raise Conflict("stack_leaving", "the stack is being deleted")
    version_id = new_id("ver")
    await stacks.put_version(
        db,
        scope,
        stack_id,
        version_id,
        nickname=given.nickname or stack.nickname,
        status=UPDATE.after,
        at=at,
    )
    await stacks.put_layers(db, scope, stack_id, _flags(template))
    await _keep(
        db, scope, resources.encryptor, template, stack_id, version_id, number=before.number + 1
    )
    await stacks.ask_to_move(db, scope, stack_id)
    return Applied(stack_id, version_id, UPDATE.after)


def _with_vendor_of(before: Row, template: dict[str, Any]) -> dict[str, Any]:
    """The vendor cannot change after creation; what was sent of it is not even looked at."""
    return {**template, "vendor": exact_json.read_own(before.body)["vendor"]}


def _flags(template: dict[str, Any]) -> list[str]:
    return [layer["flag"] for layer in template["configurations"]]


async def _keep(
    db: AsyncConnection,
    scope: TenantScope,
    encryptor: Encryptor,
    template: dict[str, Any],
    stack_id: str,
    version_id: str,
    *,
    number: int,
) -> None:
    body, secrets = masked(template)
    place = (scope.organisation_id, stack_id, version_id)
    await records.add_version(
        db,
        scope,
        stack_id,
        version_id,
        number=number,
        body=exact_json.write(body),
        sealed_secrets=sealed(secrets, encryptor, place),
        at=clock.now(),
    )
