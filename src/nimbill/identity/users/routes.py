"""Users and API clients over HTTP; paths are relative to /m/u/users."""

from datetime import UTC, datetime

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import Row
from nimbill.foundation.basis import chosen, stated
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    CallerOfRequest,
    ResourcesOfWorker,
    Transaction,
    delete,
    get,
    post,
    put,
)
from nimbill.identity.users import operations, records
from nimbill.identity.users.bodies import (
    ApiClient,
    ApiClientCreate,
    Notification,
    PasswordChange,
    Subuser,
    SubuserCreate,
    TrueOrFalse,
)

BOTH = [Audience.core, Audience.portal]


@post(
    "/",
    audiences=BOTH,
    flag="users_management",
    role_actions=[RoleAction.ModifyUsers],
    basis=stated("Users"),
    audited="user/{user_id}",
)
async def create_subuser(
    data: JSONBody[SubuserCreate],
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
) -> Subuser:
    """Create a subuser; it may do nothing until roles are mapped to it."""
    return _subuser(await operations.create_subuser(db, caller, resources.sealer, data))


@get(
    "/",
    audiences=BOTH,
    flag="users_management",
    role_actions=[RoleAction.ReadUsers, RoleAction.ModifyUsers],
    basis=chosen("user-paths"),
)
async def list_subusers(caller: CallerOfRequest, db: Transaction) -> list[Subuser]:
    """The subusers of the caller's root user, by name."""
    return [
        _subuser(row) for row in await records.list_subusers(db, caller.scope, caller.root_user)
    ]


@delete(
    "/{user_id:str}",
    audiences=BOTH,
    flag="users_management",
    role_actions=[RoleAction.ModifyUsers],
    basis=chosen("user-paths"),
    audited="user/{user_id}",
)
async def delete_subuser(
    user_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Delete a subuser with its clients, mappings and tokens."""
    await operations.delete_subuser(db, caller, user_id)
    return Success()


@put(
    "/{user_id:str}/password",
    audiences=BOTH,
    role_actions=[RoleAction.ModifyUsers],
    oneself="user_id",
    flag_over_others="users_management",
    basis=chosen("password-change"),
    audited="user/{user_id}/password",
)
async def change_password(
    user_id: FromPath[str],
    data: JSONBody[PasswordChange],
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
) -> Success:
    """Change a password; every token of the user ends at once."""
    await operations.change_password(db, caller, resources, user_id, data)
    return Success()


@post(
    "/client/{user:str}",
    audiences=BOTH,
    flag="open_api",
    role_actions=[RoleAction.ModifyApiClients],
    oneself="user",
    basis=stated("API clients (base {users_url})"),
    audited="user/{user_id}/client/{client_id}",
)
async def create_api_client(
    user: FromPath[str],
    data: JSONBody[ApiClientCreate],
    caller: CallerOfRequest,
    db: Transaction,
) -> ApiClient:
    """Create an API client that acts as the user; its secret is shown this once."""
    owner, client = await operations.create_api_client(db, caller, user, data.name)
    return ApiClient(
        client_id=client.client_id,
        client_secret=client.client_secret,
        grant_type="client_credentials",
        create_time=_with_nanoseconds(client.create_time_ns),
        user_id=owner.user_id,
        username=owner.username,
        name=data.name,
    )


@get(
    "/clients/{user:str}",
    audiences=BOTH,
    flag="open_api",
    role_actions=[RoleAction.ModifyApiClients],
    oneself="user",
    basis=stated("API clients (base {users_url})"),
)
async def list_api_clients(
    user: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> list[ApiClient]:
    """The API clients of a user, oldest first, without their secrets."""
    owner = await operations.user_named(db, caller, user)
    return [
        ApiClient(
            client_id=row.client_id,
            client_secret="",
            grant_type="client_credentials",
            create_time=_with_nanoseconds(row.create_time_ns),
            user_id=row.user_id,
            name=row.name,
        )
        for row in await records.list_api_clients(db, caller.scope, owner.user_id)
    ]


@delete(
    "/client/{user:str}/{client_id:str}",
    audiences=BOTH,
    flag="open_api",
    role_actions=[RoleAction.ModifyApiClients],
    oneself="user",
    basis=stated("API clients (base {users_url})"),
    audited="user/{user}/client/{client_id}",
)
async def delete_api_client(
    user: FromPath[str], client_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Delete an API client; its tokens end at once."""
    await operations.delete_api_client(db, caller, user, client_id)
    return Success()


def _subuser(row: Row) -> Subuser:
    spelled = TrueOrFalse.true if row.notification_email else TrueOrFalse.false
    microseconds = row.create_time.astimezone(UTC)
    return Subuser(
        user_id=row.user_id,
        username=row.username,
        email=row.email,
        root_user=row.root_user,
        notification=Notification(email=spelled),
        create_time=microseconds.strftime("%Y-%m-%dT%H:%M:%S.%f000Z"),
    )


def _with_nanoseconds(moment_ns: int) -> str:
    """RFC 3339 with a nanosecond fraction."""
    seconds, fraction = divmod(moment_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z"


ROUTES = [
    create_subuser,
    list_subusers,
    delete_subuser,
    change_password,
    create_api_client,
    list_api_clients,
    delete_api_client,
]
