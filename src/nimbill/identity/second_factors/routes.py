"""HTTP routes of second factors. Those of a user are relative to /m/u/users, others to /m/u."""

from typing import Any

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import ANY_CALLER, RoleAction
from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, delete, get, post
from nimbill.identity.second_factors import operations, records
from nimbill.identity.second_factors.bodies import (
    FactorKind,
    FactorRegistration,
    RegistrationStart,
    SecondFactor,
    SecondFactorCreate,
    SecondFactorRemoval,
)
from nimbill.identity.users.operations import require_manageable_user

PRODUCTS = [Audience.core, Audience.portal]
OWN: dict[str, Any] = {
    "audiences": PRODUCTS,
    "role_actions": ANY_CALLER,
    "basis": chosen("second-factors"),
    "changes": Changes.users,
    "session_only": True,
}


@get(
    "/{user_id:str}/second-factors",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyUsers],
    own_user_parameter="user_id",
    flag_for_other_users="users_management",
    personal=True,
    basis=chosen("second-factors"),
)
async def list_second_factors(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> list[SecondFactor]:
    """List the second factors of a user, oldest first."""
    user = await require_manageable_user(db, caller, resources, user_id)
    rows = await records.list_factors(db, caller.scope, user.user_id)
    return [_build_factor(row) for row in rows]


@delete(
    "/{user_id:str}/second-factors",
    audiences=PRODUCTS,
    flag="users_management",
    role_actions=[RoleAction.ModifyUsers],
    basis=chosen("second-factors"),
    audited="user/{user_id}/second-factors",
    changes=Changes.users,
)
async def remove_second_factors(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> Success:
    """Remove all second factors of another user, who then signs in with the password alone."""
    await operations.remove_factors_of_other_user(db, caller, resources, user_id)
    return Success()


@post(
    "/second-factors/registrations",
    audited=Unaudited("only the completed registration changes something"),
    **OWN,
)
async def begin_second_factor(
    data: JSONBody[RegistrationStart],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> FactorRegistration:
    """Begin to register a passkey or an authenticator app of the caller, in a console session."""
    return await operations.begin_own_registration(db, caller, resources, data)


@post("/second-factors", audited="second-factor/{factor_id}", **OWN)
async def add_second_factor(
    data: JSONBody[SecondFactorCreate],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> SecondFactor:
    """Complete a registration; from now on, signing in to a console needs a second step."""
    return _build_factor(await operations.add_own_factor(db, caller, resources, data))


@post("/second-factors/{factor_id:str}/removal", audited="second-factor/{factor_id}", **OWN)
async def remove_second_factor(
    factor_id: FromPath[str],
    data: JSONBody[SecondFactorRemoval],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Success:
    """Remove a second factor of the caller, in a console session."""
    await operations.remove_own_factor(db, caller, resources, factor_id, data)
    return Success()


def _build_factor(row: Row) -> SecondFactor:
    used = row.last_use_time
    return SecondFactor(
        factor_id=row.factor_id,
        kind=FactorKind(row.kind),
        name=row.name,
        create_time=clock.format_seconds(row.create_time),
        last_use_time=None if used is None else clock.format_seconds(used),
    )


USER_ROUTES = [list_second_factors, remove_second_factors]
OWN_ROUTES = [begin_second_factor, add_second_factor, remove_second_factor]
