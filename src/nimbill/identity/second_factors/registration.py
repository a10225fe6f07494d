"""Registering a factor: begin with a challenge or a secret, then complete with a proof."""

import secrets
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.request_context import Resources
from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock
from nimbill.foundation.errors import Conflict, Invalid, Violation, rule_violations_error
from nimbill.foundation.ids import new_id
from nimbill.identity.second_factors import passkeys, records, totp
from nimbill.identity.second_factors.bodies import (
    FactorKind,
    FactorRegistration,
    NewPasskey,
    PasskeyCreationOptions,
    SecondFactorCreate,
    TotpKey,
)
from nimbill.identity.second_factors.challenges import ChallengeToken

FACTORS_MAX = 10


async def begin_registration(
    db: AsyncConnection, resources: Resources, token: ChallengeToken, user: Row, kind: FactorKind
) -> FactorRegistration:
    """Store the challenge of a new passkey or the secret of an app with the token."""
    factors = await records.list_factors(db, token.scope, user.user_id)
    if len(factors) >= FACTORS_MAX:
        raise Conflict(
            "too_many_second_factors",
            f"A user can have {FACTORS_MAX} second factors. Remove one that is no longer used.",
        )
    if kind is FactorKind.passkey:
        known = [each.credential_id for each in factors if each.credential_id is not None]
        return await _begin_passkey(db, resources, token, user, known)
    return await _begin_totp(db, resources, token, user)


async def _begin_passkey(
    db: AsyncConnection,
    resources: Resources,
    token: ChallengeToken,
    user: Row,
    known: list[bytes],
) -> FactorRegistration:
    site = passkeys.find_site(resources.settings)
    if site is None:
        raise Conflict(
            "passkeys_unavailable",
            "Browsers create passkeys for host names only, and the address of this service has "
            "none. Use an authenticator app, or ask the operator to set NIMBILL_BASE_URL.",
        )
    challenge = secrets.token_bytes(passkeys.CHALLENGE_BYTES)
    await records.set_registration(
        db,
        token.scope,
        token.hash,
        kind=FactorKind.passkey,
        challenge=challenge,
        encrypted_secret=None,
    )
    options = PasskeyCreationOptions(
        challenge=passkeys.encode_bytes(challenge),
        rp_id=site.rp_id,
        user_handle=passkeys.encode_bytes(passkeys.derive_user_handle(token.scope, user.user_id)),
        username=user.username,
        algorithms=[int(algorithm) for algorithm in passkeys.ALGORITHMS],
        known_credential_ids=[passkeys.encode_bytes(each) for each in known],
    )
    return FactorRegistration(
        registration_token=token.text, kind=FactorKind.passkey, passkey=options, totp=None
    )


async def _begin_totp(
    db: AsyncConnection, resources: Resources, token: ChallengeToken, user: Row
) -> FactorRegistration:
    secret = secrets.token_bytes(totp.SECRET_BYTES)
    encryptor = await load_organisation_encryptor(db, token.scope, resources.encryptor)
    await records.set_registration(
        db,
        token.scope,
        token.hash,
        kind=FactorKind.totp,
        challenge=None,
        encrypted_secret=encryptor.encrypt(secret, _pending_secret_data(token)),
    )
    issuer = await resources.hooks.find_issuer_name(db, token.scope, user)
    uri = totp.format_key_uri(secret, issuer, user.username)
    key = TotpKey(secret=totp.encode_secret(secret), uri=uri)
    return FactorRegistration(
        registration_token=token.text, kind=FactorKind.totp, passkey=None, totp=key
    )


async def complete_registration(
    db: AsyncConnection,
    resources: Resources,
    token: ChallengeToken,
    challenge: Row,
    body: SecondFactorCreate,
) -> Row:
    """Check the proof, use up the token and store the factor."""
    factor_id = new_id("fct")
    if body.passkey is not None and challenge.kind == FactorKind.passkey:
        stored = _check_passkey(resources, challenge, body.passkey)
    elif body.totp_code is not None and challenge.kind == FactorKind.totp:
        stored = await _check_totp(db, resources, token, challenge, body.totp_code, factor_id)
    else:
        raise registration_invalid()
    if not await records.use_challenge(db, token.scope, token.hash):
        raise registration_invalid()
    return await records.add_factor(
        db,
        token.scope,
        factor_id=factor_id,
        user_id=challenge.user_id,
        kind=challenge.kind,
        name=body.name,
        at=clock.now(),
        **stored,
    )


def _check_passkey(resources: Resources, challenge: Row, sent: NewPasskey) -> dict[str, Any]:
    site = passkeys.find_site(resources.settings)
    if site is None:  # the operator has changed the address meanwhile
        raise registration_invalid()
    try:
        verified = passkeys.verify_new_passkey(site, challenge.challenge, sent)
    except passkeys.PasskeyRefused:
        raise rule_violations_error(
            [Violation("passkey", "a passkey that was created for this registration")]
        ) from None
    return {
        "credential_id": verified.credential_id,
        "public_key": verified.public_key,
        "sign_count": verified.sign_count,
    }


async def _check_totp(
    db: AsyncConnection,
    resources: Resources,
    token: ChallengeToken,
    challenge: Row,
    code: str,
    factor_id: str,
) -> dict[str, Any]:
    """The first code counts as used."""
    encryptor = await load_organisation_encryptor(db, token.scope, resources.encryptor)
    secret = encryptor.decrypt(challenge.encrypted_secret, _pending_secret_data(token))
    step = totp.find_step(secret, code, unix_seconds=clock.unix_seconds(), last_step=0)
    if step is None:
        raise rule_violations_error(
            [Violation("totp_code", "the code that the authenticator app shows now")]
        )
    context = secret_data(token.scope.organisation_id, factor_id)
    return {"encrypted_secret": encryptor.encrypt(secret, context), "last_step": step}


def _pending_secret_data(token: ChallengeToken) -> tuple[str, ...]:
    return (
        "second_factor_challenges",
        "encrypted_secret",
        token.scope.organisation_id,
        token.hash.hex(),
    )


def secret_data(organisation_id: str, factor_id: str) -> tuple[str, ...]:
    return ("second_factors", "encrypted_secret", organisation_id, factor_id)


def registration_invalid() -> Invalid:
    return Invalid(
        "registration_invalid",
        "The registration was completed before, has expired or was begun for another kind of "
        "factor. Begin again.",
    )
