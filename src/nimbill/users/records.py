"""Stored users and API clients."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.storage import Row, Scope, metadata
from nimbill.vocabulary import UserKind

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
    scope: Scope,
    *,
    user_id: str,
    root_user: str,
    kind: UserKind,
    username: str,
    password_hash: str,
) -> None:
    await db.execute(
        sa.insert(users).values(
            organisation_id=scope.organisation_id,
            user_id=user_id,
            root_user=root_user,
            kind=kind,
            username=username,
            password_hash=password_hash,
        )
    )


async def add_api_client(
    db: AsyncConnection,
    scope: Scope,
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


async def find_client(db: AsyncConnection, scope: Scope, client_id: str) -> Row | None:
    """user_id and secret_hash of a client."""
    question = sa.select(api_clients.c.user_id, api_clients.c.secret_hash).where(
        api_clients.c.organisation_id == scope.organisation_id,
        api_clients.c.client_id == client_id,
    )
    return (await db.execute(question)).one_or_none()


async def find_user(db: AsyncConnection, scope: Scope, user_id: str) -> Row | None:
    question = sa.select(users).where(
        users.c.organisation_id == scope.organisation_id, users.c.user_id == user_id
    )
    return (await db.execute(question)).one_or_none()


async def find_user_by_name(db: AsyncConnection, scope: Scope, username: str) -> Row | None:
    """Names are compared without regard to case."""
    question = sa.select(users).where(
        users.c.organisation_id == scope.organisation_id,
        sa.func.lower(users.c.username) == sa.func.lower(username),
    )
    return (await db.execute(question)).one_or_none()
