"""Whether signing in needs a second step, and the proof of a factor in that step."""

import secrets
from collections.abc import Sequence
from enum import StrEnum

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.request_context import Resources
from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.identity.second_factors import passkeys, records, totp
from nimbill.identity.second_factors.bodies import (
    FactorKind,
    PasskeyRequestOptions,
    PasskeySignature,
    SecondFactorSignIn,
)
from nimbill.identity.second_factors.registration import secret_data


class SecondStep(StrEnum):
    """What follows a correct password."""

    proof = "proof"
    setup = "setup"


async def find_second_step(
    db: AsyncConnection, scope: TenantScope, resources: Resources, user: Row
) -> SecondStep | None:
    if await records.has_factors(db, scope, user.user_id):
        return SecondStep.proof
    if await resources.hooks.requires_second_factor(db, scope, user):
        return SecondStep.setup
    return None


def build_request_options(
    resources: Resources, factors: Sequence[Row]
) -> tuple[bytes | None, PasskeyRequestOptions | None]:
    """Return a new challenge and the options for the passkeys, if there are any."""
    credential_ids = [each.credential_id for each in factors if each.kind == FactorKind.passkey]
    site = passkeys.find_site(resources.settings)
    if not credential_ids or site is None:
        return None, None
    challenge = secrets.token_bytes(passkeys.CHALLENGE_BYTES)
    return challenge, PasskeyRequestOptions(
        challenge=passkeys.encode_bytes(challenge),
        rp_id=site.rp_id,
        credential_ids=[passkeys.encode_bytes(each) for each in credential_ids],
    )


async def is_proven(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    challenge: Row,
    body: SecondFactorSignIn,
) -> bool:
    """Check the proof against the factors of the user, and store that the factor was used."""
    factors = await records.list_factors(db, scope, challenge.user_id)
    if body.passkey is not None:
        return await _use_passkey(db, scope, resources, challenge, factors, body.passkey)
    assert body.totp_code is not None, "the body has one of both"
    return await _use_code(db, scope, resources, factors, body.totp_code)


async def _use_passkey(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    challenge: Row,
    factors: Sequence[Row],
    sent: PasskeySignature,
) -> bool:
    site = passkeys.find_site(resources.settings)
    if site is None or challenge.challenge is None:
        return False
    named = [
        each
        for each in factors
        if each.kind == FactorKind.passkey
        and passkeys.encode_bytes(each.credential_id) == sent.credential_id
    ]
    for factor in named:
        try:
            sign_count = passkeys.verify_signature(site, challenge.challenge, factor, sent)
        except passkeys.PasskeyRefused:
            return False
        return await records.use_passkey(db, scope, factor, sign_count=sign_count, at=clock.now())
    return False


async def _use_code(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    factors: Sequence[Row],
    code: str,
) -> bool:
    """Try every authenticator app of the user. A code works once."""
    apps = [each for each in factors if each.kind == FactorKind.totp]
    if not apps:
        return False
    encryptor = await load_organisation_encryptor(db, scope, resources.encryptor)
    for app in apps:
        secret = encryptor.decrypt(
            app.encrypted_secret, secret_data(scope.organisation_id, app.factor_id)
        )
        step = totp.find_step(
            secret, code, unix_seconds=clock.unix_seconds(), last_step=app.last_step
        )
        if step is not None:
            return await records.use_step(db, scope, app, step=step, at=clock.now())
    return False
