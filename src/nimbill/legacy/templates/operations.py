"""Operations on templates: applying one creates a stack, updating one changes its stack."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.passwords import hash_client_secret
from nimbill.access.request_context import Resources
from nimbill.database.tenant_lookup import add_lookup
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.legacy.settings import read_legacy_settings
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.auth_tokens import encrypt_token, generate_token
from nimbill.legacy.stacks.nicknames import generate_nickname
from nimbill.legacy.stacks.stack_ids import STACK_LOOKUP, new_stack_id
from nimbill.legacy.stacks.stack_transitions import APPLY, UPDATE, StackStatus, is_allowed
from nimbill.legacy.templates import records
from nimbill.legacy.templates.secrets import (
    decrypt_secrets,
    encrypt_secrets,
    find_unresolved_masks,
    mask_secrets,
    restore_secrets,
)
from nimbill.legacy.templates.template_parser import SentTemplate
from nimbill.legacy.templates.template_rules import find_template_violations

# See docs/choices.md, template-update.


@dataclass(frozen=True, slots=True)
class AppliedTemplate:
    stack_id: str
    version_id: str
    stack_status: StackStatus


async def apply_template(
    db: AsyncConnection, caller: Caller, resources: Resources, sent: SentTemplate
) -> AppliedTemplate:
    """Create a stack with its layers and its first version, and request its launch."""
    template = sent.template
    refuse_if(
        [*find_template_violations(template, creating=True), *find_unresolved_masks(template)]
    )
    scope, at = caller.scope, clock.now()
    stack_id, version_id, token = new_stack_id(), new_id("ver"), generate_token()
    await add_lookup(db, scope, STACK_LOOKUP, stack_id)
    await stacks.add_stack(
        db,
        scope,
        at=at,
        stack_id=stack_id,
        nickname=sent.nickname or generate_nickname(),
        deployment=template["label"],
        provisioner=read_legacy_settings(resources.settings).provisioner,
        region=template["vendor"]["aws"]["region"],
        stack_status=APPLY.target,
        version_id=version_id,
        user_id=caller.user_id,
        username=caller.username,
        token_hash=hash_client_secret(token),
        encrypted_token=encrypt_token(token, resources.encryptor, scope, stack_id),
    )
    await stacks.replace_layers(db, scope, stack_id, _list_flags(template))
    await _store_version(db, scope, resources.encryptor, template, stack_id, version_id, number=1)
    await stacks.request_reconciliation(db, scope, stack_id)
    return AppliedTemplate(stack_id, version_id, APPLY.target)


async def update_template(
    db: AsyncConnection, caller: Caller, resources: Resources, stack_id: str, sent: SentTemplate
) -> AppliedTemplate:
    """Store a new version with the vendor section that the stack was created with.

    A secret sent as *** keeps its stored value. Refuse a stack that is being deleted.
    """
    scope, at = caller.scope, clock.now()
    stack = await stacks.find_stack(db, scope, stack_id, lock=True)
    latest = await records.find_latest_version(db, scope, stack_id)
    if stack is None or latest is None or stack.stack_status == StackStatus.DELETE_COMPLETE:
        raise not_found()
    template = _with_vendor_of(latest, sent.template)
    template = restore_secrets(template, decrypt_secrets(latest, resources.encryptor))
    refuse_if(
        [*find_template_violations(template, creating=False), *find_unresolved_masks(template)]
    )
    if not is_allowed(UPDATE, stack.stack_status):
        raise Conflict("stack_leaving", "The stack is being deleted.")
    version_id = new_id("ver")
    await stacks.set_version(
        db,
        scope,
        stack_id,
        version_id,
        nickname=sent.nickname or stack.nickname,
        status=UPDATE.target,
        at=at,
    )
    await stacks.replace_layers(db, scope, stack_id, _list_flags(template))
    await _store_version(
        db, scope, resources.encryptor, template, stack_id, version_id, number=latest.number + 1
    )
    await stacks.request_reconciliation(db, scope, stack_id)
    return AppliedTemplate(stack_id, version_id, UPDATE.target)


def _with_vendor_of(version: Row, template: dict[str, Any]) -> dict[str, Any]:
    """The vendor section cannot change after creation; the sent one is ignored."""
    return {**template, "vendor": exact_json.decode_stored(version.body)["vendor"]}


def _list_flags(template: dict[str, Any]) -> list[str]:
    return [layer["flag"] for layer in template["configurations"]]


async def _store_version(
    db: AsyncConnection,
    scope: TenantScope,
    encryptor: Encryptor,
    template: dict[str, Any],
    stack_id: str,
    version_id: str,
    *,
    number: int,
) -> None:
    body, secrets = mask_secrets(template)
    place = (scope.organisation_id, stack_id, version_id)
    await records.add_version(
        db,
        scope,
        stack_id,
        version_id,
        number=number,
        body=exact_json.encode(body),
        encrypted_secrets=encrypt_secrets(secrets, encryptor, place),
        at=clock.now(),
    )
