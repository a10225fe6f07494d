"""Changes to second factors in a session: the checks in order, then the change."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import Row
from nimbill.foundation.errors import Conflict, NotPermitted, not_found
from nimbill.identity.second_factors import records
from nimbill.identity.second_factors.bodies import (
    FactorRegistration,
    RegistrationStart,
    SecondFactorCreate,
    SecondFactorRemoval,
)
from nimbill.identity.second_factors.challenges import (
    ChallengePurpose,
    create_challenge,
    find_challenge,
    parse_token,
)
from nimbill.identity.second_factors.registration import (
    begin_registration,
    complete_registration,
    registration_invalid,
)
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import (
    refuse_wrong_password,
    require_manageable_user,
    require_user,
)


async def begin_own_registration(
    db: AsyncConnection, caller: Caller, resources: Resources, body: RegistrationStart
) -> FactorRegistration:
    """Require the current password."""
    user = await require_user(db, caller, caller.user_id)
    await refuse_wrong_password(db, caller.scope, resources, user, body.old_password)
    token = await create_challenge(
        db,
        caller.scope,
        user,
        product=caller.product,
        purpose=ChallengePurpose.registration,
    )
    return await begin_registration(db, resources, token, user, body.kind)


async def add_own_factor(
    db: AsyncConnection, caller: Caller, resources: Resources, body: SecondFactorCreate
) -> Row:
    token = parse_token(body.registration_token)
    if token is None or token.scope.organisation_id != caller.scope.organisation_id:
        raise registration_invalid()
    challenge = await find_challenge(db, token, product=None, purpose=ChallengePurpose.registration)
    if challenge is None or challenge.user_id != caller.user_id:
        raise registration_invalid()
    return await complete_registration(db, resources, token, challenge, body)


async def remove_own_factor(
    db: AsyncConnection,
    caller: Caller,
    resources: Resources,
    factor_id: str,
    body: SecondFactorRemoval,
) -> None:
    """Refuse to remove the last factor while the organisation requires one.

    The user is locked, so that two requests cannot remove the last two.
    """
    user = await require_user(db, caller, caller.user_id)
    factors = await records.list_factors(db, caller.scope, caller.user_id)
    if factor_id not in {each.factor_id for each in factors}:
        raise not_found()
    await refuse_wrong_password(db, caller.scope, resources, user, body.old_password)
    await users.lock_user(db, caller.scope, caller.user_id)
    factors = await records.list_factors(db, caller.scope, caller.user_id)
    if len(factors) == 1 and await resources.hooks.requires_second_factor(db, caller.scope, user):
        raise Conflict(
            "last_second_factor",
            "Your organisation requires a second factor. Add another one before you remove this.",
        )
    await records.delete_factor(db, caller.scope, caller.user_id, factor_id)


async def remove_factors_of_other_user(
    db: AsyncConnection, caller: Caller, resources: Resources, user_id: str
) -> None:
    """For somebody who lost a device. The own factors need the current password."""
    user = await require_manageable_user(db, caller, resources, user_id)
    if user.user_id == caller.user_id:
        raise NotPermitted(
            "own_second_factors",
            "Remove your own second factors on the page Security, which asks for your password.",
        )
    await records.delete_factors_of_user(db, caller.scope, user.user_id)
