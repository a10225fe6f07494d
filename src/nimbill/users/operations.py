"""What may be done with users and their API clients."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill import clock
from nimbill.access.passwords import generate_client_secret, hash_client_secret
from nimbill.directory import Named, put_in_directory
from nimbill.ids import new_id
from nimbill.storage import Scope
from nimbill.users import records


@dataclass(frozen=True, slots=True)
class NewClient:
    client_id: str
    client_secret: str  # shown once, stored as a hash


async def add_api_client(
    db: AsyncConnection, scope: Scope, *, user_id: str, name: str
) -> NewClient:
    """A client that acts as this user; it can be found by its id before the caller is known."""
    client = NewClient(new_id("cl"), generate_client_secret())
    await records.add_api_client(
        db,
        scope,
        client_id=client.client_id,
        user_id=user_id,
        name=name,
        secret_hash=hash_client_secret(client.client_secret),
        create_time_ns=clock.unix_nanoseconds(),
    )
    await put_in_directory(db, scope, Named.api_client, client.client_id)
    return client
