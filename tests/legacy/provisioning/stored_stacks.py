"""Stacks stored as applying a template stores them, without a running service."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.ids import new_id
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.auth_tokens import encrypt_token
from nimbill.legacy.stacks.stack_transitions import APPLY
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import encrypt_secrets, mask_secrets
from tests.legacy.provisioning.stack_user import build_layer, build_stack_template


async def add_stack(
    db: AsyncConnection, scope: TenantScope, encryptor: Encryptor, **provision: Any
) -> str:
    """Store a stack with one layer, web, and request its launch; return its id."""
    stack_id, version_id, at = new_id("stk"), new_id("ver"), clock.now()
    body, secrets = mask_secrets(
        build_stack_template(
            build_layer("web", **{"image": "ami-1", "volume_type": "gp3", **provision})
        )
    )
    await stacks.add_stack(
        db,
        scope,
        at=at,
        stack_id=stack_id,
        nickname="quiet-river",
        deployment="shop",
        provisioner="local",
        region="eu-west-1",
        stack_status=APPLY.target,
        version_id=version_id,
        user_id="usr_nobody",
        username="nobody",
        token_hash=b"hash",
        encrypted_token=encrypt_token("token", encryptor, scope, stack_id),
    )
    await stacks.replace_layers(db, scope, stack_id, ["web"])
    await templates.add_version(
        db,
        scope,
        stack_id,
        version_id,
        number=1,
        body=exact_json.encode(body),
        encrypted_secrets=encrypt_secrets(
            secrets, encryptor, (scope.organisation_id, stack_id, version_id)
        ),
        at=at,
    )
    await stacks.request_reconciliation(db, scope, stack_id)
    return stack_id
