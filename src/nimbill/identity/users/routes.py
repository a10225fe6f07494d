"""HTTP routes of users and API clients; paths are relative to /m/u/users."""

from datetime import UTC, datetime
from typing import Literal

from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import Row
from nimbill.foundation.basis import chosen, stated
from nimbill.http.list_parameters import ReportTotal, Search, WithDetails
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    WorkerResources,
    delete,
    get,
    post,
    put,
)
from nimbill.identity.users import operations, records
from nimbill.identity.users.access_summary import add_access
from nimbill.identity.users.bodies import (
    ApiClientCreate,
    ApiClientRecord,
    BooleanText,
    EmailAddress,
    EmailChange,
    Notification,
    PasswordChange,
    Subuser,
    SubuserCreate,
)

READ_ROLES = [RoleAction.ReadRoles, RoleAction.ModifyRoles]
PRODUCTS = [Audience.core, Audience.portal]
UserSort = Literal["username", "-username", "email", "-email", "create_time", "-create_time"]


@post(
    "/",
    audiences=PRODUCTS,
    flag="users_management",
    role_actions=[RoleAction.ModifyUsers],
    basis=stated("Users"),
    audited="user/{user_id}",
    changes=Changes.users,
)
async def create_subuser(
    data: JSONBody[SubuserCreate],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Subuser:
    """Create a subuser. It has no permissions until roles are mapped to it."""
    return _build_subuser(await operations.create_subuser(db, caller, resources, data))


@get(
    "/",
    audiences=PRODUCTS,
    flag="users_management",
    role_actions=[RoleAction.ReadUsers, RoleAction.ModifyUsers],
    basis=chosen("user-paths"),
    counted=True,
)
async def list_subusers(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[UserSort | None] = None,
    details: WithDetails = False,
) -> list[Subuser]:
    """List the subusers of the caller's root user, ordered by name.

    `search` looks in user_id, username and email. `details` adds `roles` and
    `billing_group_count`, if the caller may read roles.
    """
    query = ListQuery(limit, offset, search, sort)
    rows, total = await records.list_subusers(db, caller.scope, caller.root_user, query)
    report_total(total)
    subusers = [_build_subuser(row) for row in rows]
    if details and caller.may(READ_ROLES):
        return await add_access(db, caller, subusers)
    return subusers


@delete(
    "/{user_id:str}",
    audiences=PRODUCTS,
    flag="users_management",
    role_actions=[RoleAction.ModifyUsers],
    basis=chosen("user-paths"),
    audited="user/{user_id}",
    changes=Changes.users,
)
async def delete_subuser(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> Success:
    """Delete a subuser with its clients, mappings and tokens."""
    await operations.delete_subuser(db, caller, resources, user_id)
    return Success()


@put(
    "/{user_id:str}/password",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyUsers],
    own_user_parameter="user_id",
    flag_for_other_users="users_management",
    basis=chosen("password-change"),
    audited="user/{user_id}/password",
    changes=Changes.users,
)
async def change_password(
    user_id: FromPath[str],
    data: JSONBody[PasswordChange],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Success:
    """Change a password and revoke every token of the user."""
    await operations.change_password(db, caller, resources, user_id, data)
    return Success()


@get(
    "/{user_id:str}/email",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyUsers],
    own_user_parameter="user_id",
    flag_for_other_users="users_management",
    personal=True,
    basis=chosen("email-change"),
)
async def read_email(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> EmailAddress:
    """Show the e-mail address, to which links for a forgotten password are mailed."""
    user = await operations.require_user(db, caller, user_id)
    return EmailAddress(email=user.email)


@put(
    "/{user_id:str}/email",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyUsers],
    own_user_parameter="user_id",
    flag_for_other_users="users_management",
    basis=chosen("email-change"),
    audited="user/{user_id}/email",
    changes=Changes.users,
)
async def change_email(
    user_id: FromPath[str],
    data: JSONBody[EmailChange],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Success:
    """Change the e-mail address, to which links for a forgotten password are mailed."""
    await operations.change_email(db, caller, resources, user_id, data)
    return Success()


@post(
    "/client/{user:str}",
    audiences=PRODUCTS,
    flag="open_api",
    role_actions=[RoleAction.ModifyApiClients],
    own_user_parameter="user",
    basis=stated("API clients"),
    audited="user/{user_id}/client/{client_id}",
    changes=Changes.users,
)
async def create_api_client(
    user: FromPath[str],
    data: JSONBody[ApiClientCreate],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> ApiClientRecord:
    """Create an API client that acts as the user. Only this response shows its secret."""
    owner, client = await operations.create_api_client(db, caller, resources, user, data.name)
    return ApiClientRecord(
        client_id=client.client_id,
        client_secret=client.client_secret,
        grant_type="client_credentials",
        create_time=_format_nanoseconds(client.create_time_ns),
        user_id=owner.user_id,
        username=owner.username,
        name=data.name,
    )


@get(
    "/clients/{user:str}",
    audiences=PRODUCTS,
    flag="open_api",
    role_actions=[RoleAction.ModifyApiClients],
    own_user_parameter="user",
    basis=stated("API clients"),
)
async def list_api_clients(
    user: FromPath[str], caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> list[ApiClientRecord]:
    """List the API clients of a user, oldest first, without their secrets."""
    return [
        ApiClientRecord(
            client_id=row.client_id,
            client_secret="",
            grant_type="client_credentials",
            create_time=_format_nanoseconds(row.create_time_ns),
            user_id=row.user_id,
            name=row.name,
        )
        for row in await operations.list_api_clients(db, caller, resources, user)
    ]


@delete(
    "/client/{user:str}/{client_id:str}",
    audiences=PRODUCTS,
    flag="open_api",
    role_actions=[RoleAction.ModifyApiClients],
    own_user_parameter="user",
    basis=stated("API clients"),
    audited="user/{user}/client/{client_id}",
    changes=Changes.users,
)
async def delete_api_client(
    user: FromPath[str],
    client_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Success:
    """Delete an API client and revoke its tokens."""
    await operations.delete_api_client(db, caller, resources, user, client_id)
    return Success()


def _build_subuser(row: Row) -> Subuser:
    notification = BooleanText.true if row.notification_email else BooleanText.false
    create_time = row.create_time.astimezone(UTC)
    return Subuser(
        user_id=row.user_id,
        username=row.username,
        email=row.email,
        root_user=row.root_user,
        notification=Notification(email=notification),
        create_time=create_time.strftime("%Y-%m-%dT%H:%M:%S.%f000Z"),
    )


def _format_nanoseconds(time_ns: int) -> str:
    """Format as RFC 3339 with nine decimals of a second."""
    seconds, fraction = divmod(time_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z"


ROUTES = [
    create_subuser,
    list_subusers,
    delete_subuser,
    change_password,
    read_email,
    change_email,
    create_api_client,
    list_api_clients,
    delete_api_client,
]
