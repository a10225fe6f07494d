"""Stored users and API clients, and the queries on them."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.list_query import COMPLETE, ListColumns, ListQuery, Page, fetch_page
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant
from nimbill.foundation.user_kind import UserKind

users = sa.Table(
    "users",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("root_user", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("username", sa.Text, nullable=False),
    sa.Column("email", sa.Text),
    sa.Column("notification_email", sa.Boolean, nullable=False),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("credential_epoch", sa.Integer, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("password_update_time", sa.DateTime(timezone=True)),
)

api_clients = sa.Table(
    "api_clients",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("client_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("secret_hash", sa.LargeBinary, nullable=False),
    sa.Column("create_time_ns", sa.BigInteger, nullable=False),
)


async def add_user(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    user_id: str,
    root_user: str,
    kind: UserKind,
    username: str,
    password_hash: str,
    email: str | None = None,
    notification_email: bool = False,
) -> Row:
    result = await db.execute(
        sa.insert(users)
        .values(
            organisation_id=scope.organisation_id,
            user_id=user_id,
            root_user=root_user,
            kind=kind,
            username=username,
            email=email,
            notification_email=notification_email,
            password_hash=password_hash,
        )
        .returning(users)
    )
    row: Row = result.one()
    return row


# the locale of the server must not matter
_BY_NAME = sa.func.lower(users.c.username).collate("C")
_USER_COLUMNS = ListColumns(
    table=users,
    order=[_BY_NAME],
    searched=[users.c.user_id, users.c.username, users.c.email],
    sortable={
        "username": _BY_NAME,
        "email": sa.func.lower(users.c.email).collate("C"),
        "create_time": users.c.create_time,
    },
)


async def list_subusers(
    db: AsyncConnection, scope: TenantScope, root_user: str, query: ListQuery = COMPLETE
) -> Page:
    stmt = sa.select(users).where(users.c.root_user == root_user, users.c.user_id != root_user)
    return await fetch_page(db, scope, stmt, _USER_COLUMNS, query)


async def load_usernames(
    db: AsyncConnection, scope: TenantScope, user_ids: Collection[str]
) -> dict[str, str]:
    """Map those of the ids that are users to their names."""
    stmt = sa.select(users.c.user_id, users.c.username).where(
        of_tenant(users, scope), is_any_of(users.c.user_id, user_ids)
    )
    return {row.user_id: row.username for row in await db.execute(stmt)}


async def find_user(db: AsyncConnection, scope: TenantScope, user_id: str) -> Row | None:
    stmt = sa.select(users).where(of_tenant(users, scope), users.c.user_id == user_id)
    return (await db.execute(stmt)).one_or_none()


async def lock_user(
    db: AsyncConnection, scope: TenantScope, user_id: str, *, to_delete: bool = False
) -> Row | None:
    """Lock the row until the transaction ends, so that changes to one user are serialised."""
    stmt = (
        sa.select(users)
        .where(of_tenant(users, scope), users.c.user_id == user_id)
        .with_for_update(key_share=not to_delete)
    )
    return (await db.execute(stmt)).one_or_none()


async def find_user_by_name(db: AsyncConnection, scope: TenantScope, username: str) -> Row | None:
    """Names are case-insensitive."""
    stmt = sa.select(users).where(
        of_tenant(users, scope), sa.func.lower(users.c.username) == sa.func.lower(username)
    )
    return (await db.execute(stmt)).one_or_none()


async def find_user_by_name_or_email(
    db: AsyncConnection, scope: TenantScope, name: str
) -> Row | None:
    """A user of this name comes before one of this e-mail address. Both are case-insensitive."""
    is_name = sa.func.lower(users.c.username) == sa.func.lower(name)
    stmt = (
        sa.select(users)
        .where(
            of_tenant(users, scope), is_name | (sa.func.lower(users.c.email) == sa.func.lower(name))
        )
        .order_by(is_name.desc())
        .limit(1)
    )
    return (await db.execute(stmt)).one_or_none()


async def set_email(
    db: AsyncConnection, scope: TenantScope, user_id: str, *, email: str, username: str
) -> None:
    await db.execute(
        sa.update(users)
        .where(of_tenant(users, scope), users.c.user_id == user_id)
        .values(email=email, username=username)
    )


async def find_names_in_use(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    username: str,
    email: str | None,
    except_user: str = "",
) -> set[str]:
    """Return which of `username` and `email` another user of the organisation has."""
    same_name = sa.func.lower(users.c.username) == sa.func.lower(username)
    same_email = sa.func.lower(users.c.email) == sa.func.lower(email)
    stmt = sa.select(
        sa.func.coalesce(sa.func.bool_or(same_name), False),
        sa.func.coalesce(sa.func.bool_or(same_email), False),
    ).where(of_tenant(users, scope), users.c.user_id != except_user, same_name | same_email)
    username_in_use, email_in_use = (await db.execute(stmt)).one()
    in_use = {"username": username_in_use, "email": email_in_use}
    return {name for name in in_use if in_use[name]}


async def set_password(
    db: AsyncConnection, scope: TenantScope, user_id: str, password_hash: str
) -> None:
    """Store the hash and start a new credential epoch, which revokes all tokens issued before."""
    await db.execute(
        sa.update(users)
        .where(of_tenant(users, scope), users.c.user_id == user_id)
        .values(
            password_hash=password_hash,
            credential_epoch=users.c.credential_epoch + 1,
            password_update_time=sa.func.now(),
        )
    )


async def delete_user(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    """Foreign keys delete its clients, mappings, filters, tokens and stored responses."""
    await db.execute(sa.delete(users).where(of_tenant(users, scope), users.c.user_id == user_id))


async def add_api_client(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    client_id: str,
    user_id: str,
    name: str,
    secret_hash: bytes,
    create_time_ns: int,
) -> None:
    await db.execute(
        sa.insert(api_clients).values(
            organisation_id=scope.organisation_id,
            client_id=client_id,
            user_id=user_id,
            name=name,
            secret_hash=secret_hash,
            create_time_ns=create_time_ns,
        )
    )


async def list_api_clients(db: AsyncConnection, scope: TenantScope, user_id: str) -> Sequence[Row]:
    stmt = (
        sa.select(api_clients)
        .where(of_tenant(api_clients, scope), api_clients.c.user_id == user_id)
        .order_by(api_clients.c.create_time_ns, api_clients.c.client_id)
    )
    return (await db.execute(stmt)).all()


async def delete_api_client(
    db: AsyncConnection, scope: TenantScope, *, user_id: str, client_id: str
) -> bool:
    result = await db.execute(
        sa.delete(api_clients).where(
            of_tenant(api_clients, scope),
            api_clients.c.user_id == user_id,
            api_clients.c.client_id == client_id,
        )
    )
    return bool(result.rowcount)


async def find_root_user(db: AsyncConnection, scope: TenantScope) -> str | None:
    """Return the user_id of the root user, or None if the organisation does not exist."""
    stmt = sa.select(users.c.user_id).where(of_tenant(users, scope), users.c.kind == UserKind.root)
    user_id: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return user_id


async def find_root_username(db: AsyncConnection, scope: TenantScope) -> str | None:
    stmt = sa.select(users.c.username).where(of_tenant(users, scope), users.c.kind == UserKind.root)
    username: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return username
