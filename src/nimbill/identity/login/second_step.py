"""The second step of signing in: prove a factor, or register the first one if it is required."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access import login_failures
from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation.errors import NotAuthenticated
from nimbill.foundation.product import Product
from nimbill.identity.second_factors import records
from nimbill.identity.second_factors.bodies import FactorKind, SecondFactorSignIn
from nimbill.identity.second_factors.challenges import (
    ChallengePurpose,
    ChallengeToken,
    create_challenge,
    find_challenge,
    parse_token,
)
from nimbill.identity.second_factors.verification import (
    SecondStep,
    build_request_options,
    is_proven,
)
from nimbill.identity.users import records as users


async def begin_second_step(
    resources: Resources, product: Product, scope: TenantScope, user: Row, step: SecondStep
) -> NotAuthenticated:
    """Store a challenge and return the response to a correct password."""
    async with transaction(resources.engine, scope.organisation_id) as db:
        if step is SecondStep.setup:
            token = await create_challenge(
                db, scope, user, product=product, purpose=ChallengePurpose.setup
            )
            return _setup_required(token)
        factors = await records.list_factors(db, scope, user.user_id)
        challenge, options = build_request_options(resources, factors)
        token = await create_challenge(
            db,
            scope,
            user,
            product=product,
            purpose=ChallengePurpose.sign_in,
            challenge=challenge,
        )
    refusal = NotAuthenticated(
        "second_factor_required",
        "The password is correct. Prove a second factor to sign in.",
    )
    refusal.fields = {
        "sign_in_token": token.text,
        "totp": any(each.kind == FactorKind.totp for each in factors),
        "passkey": None
        if options is None
        else {
            "challenge": options.challenge,
            "rp_id": options.rp_id,
            "credential_ids": options.credential_ids,
        },
    }
    return refusal


def _setup_required(token: ChallengeToken) -> NotAuthenticated:
    refusal = NotAuthenticated(
        "second_factor_setup_required",
        "The password is correct. Your organisation requires a second factor: register one to "
        "sign in.",
    )
    refusal.fields = {"sign_in_token": token.text}
    return refusal


def read_token(text: str) -> ChallengeToken:
    token = parse_token(text)
    if token is None:
        raise sign_in_expired()
    return token


async def count_proof(
    resources: Resources, product: Product, token: ChallengeToken
) -> tuple[Row, login_failures.CountedAttempt]:
    """Find the challenge and count the attempt before the proof is checked."""
    async with transaction(resources.engine, token.scope.organisation_id) as db:
        challenge = await find_challenge(
            db, token, product=product, purpose=ChallengePurpose.sign_in
        )
        if challenge is None:
            raise sign_in_expired()
        count = login_failures.count_of_second_step(token.scope, challenge.user_id)
        attempt = await login_failures.add_attempt(db, count)
    return challenge, attempt


async def check_proof(
    db: AsyncConnection,
    resources: Resources,
    token: ChallengeToken,
    challenge: Row,
    attempt: login_failures.CountedAttempt,
    body: SecondFactorSignIn,
) -> Row:
    """Return the user of a correct proof, which uses up the token and no longer counts."""
    if not await is_proven(db, token.scope, resources, challenge, body):
        raise NotAuthenticated(
            "second_factor_wrong",
            "The code or the passkey is wrong, or was used before. Try again.",
        )
    if not await records.use_challenge(db, token.scope, token.hash):
        raise sign_in_expired()
    await login_failures.remove_attempt(db, attempt)
    return await require_user_of(db, token.scope, challenge)


async def find_setup(
    db: AsyncConnection, product: Product, token: ChallengeToken
) -> tuple[Row, Row]:
    """Return challenge and user of a setup. It registers the first factor only.

    The user is locked, so that of two at once the second finds the factor of the first.
    """
    challenge = await find_challenge(db, token, product=product, purpose=ChallengePurpose.setup)
    if challenge is None:
        raise sign_in_expired()
    user = await users.lock_user(db, token.scope, challenge.user_id)
    if user is None or await records.has_factors(db, token.scope, user.user_id):
        raise sign_in_expired()
    return challenge, user


async def require_user_of(db: AsyncConnection, scope: TenantScope, challenge: Row) -> Row:
    user = await users.find_user(db, scope, challenge.user_id)
    if user is None or user.credential_epoch != challenge.credential_epoch:
        raise sign_in_expired()
    return user


def sign_in_expired() -> NotAuthenticated:
    """One response for all causes, so that it does not reveal which tokens exist."""
    return NotAuthenticated(
        "sign_in_expired",
        "This sign-in was completed before or took longer than five minutes. Enter the password "
        "again.",
    )
