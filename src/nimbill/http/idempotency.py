"""Idempotency keys: a repeated request receives the stored response of the first one."""

import re
from dataclasses import dataclass
from hashlib import sha256

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.foundation import exact_json
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, Violation, rule_violations_error

HEADER = "Idempotency-Key"
RETENTION_DAYS = 8  # seven are documented; the daily clean-up may run late
_KEY_PATTERN = re.compile(r"[\x21-\x7e]{1,255}")

# See docs/choices.md, idempotency-keys.

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),  # some callers have no user record
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("encrypted_response", sa.LargeBinary, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

# While a route pauses its transaction, a repeat is let in; both store the same response.
_STORE_RESPONSE = insert(idempotency_keys).on_conflict_do_nothing()


@dataclass(frozen=True, slots=True)
class ReservedKey:
    """A key that this request uses first; its response will be stored."""

    key: str
    request_hash: bytes


@dataclass(frozen=True, slots=True)
class StoredResponse:
    status: int
    body: bytes


def hash_request(method: str, path: str, query: bytes, content_type: str, body: bytes) -> bytes:
    """Hash a request. The order of keys in a JSON object does not change the hash."""
    if "json" in content_type and body:
        body = exact_json.encode_canonical(exact_json.decode(body))
    return sha256(b"\0".join([method.encode(), path.encode(), query, body])).digest()


async def reserve_key(
    db: AsyncConnection, caller: Caller, encryptor: Encryptor, key: str, request_hash: bytes
) -> ReservedKey | StoredResponse:
    """Reserve the key for this transaction, or return the stored response of the first request.

    Refuse with 409 if a request with this key is running or the key belongs to another request.
    """
    if not _KEY_PATTERN.fullmatch(key):
        raise rule_violations_error([Violation(HEADER, "1 to 255 printable ASCII characters")])
    scope = caller.scope
    lock_name = f"{scope.organisation_id} {caller.user_id} {key}"
    lock_id = int.from_bytes(sha256(lock_name.encode()).digest()[:8], "big", signed=True)
    stmt = sa.select(sa.func.pg_try_advisory_xact_lock(lock_id))
    if not (await db.execute(stmt)).scalar_one():
        raise Conflict(
            "idempotency_key_in_use",
            "A request with this Idempotency-Key is still running. Try again later.",
        )
    row = await _find_key(db, scope, caller.user_id, key)
    if row is None:
        return ReservedKey(key, request_hash)
    if row.fingerprint != request_hash:
        raise Conflict(
            "idempotency_key_reused",
            "This Idempotency-Key was used for a different request. Use a new key.",
        )
    own_encryptor = await load_organisation_encryptor(db, scope, encryptor)
    associated_data = _associated_data(scope, caller.user_id, key)
    return StoredResponse(
        row.status, own_encryptor.decrypt(row.encrypted_response, associated_data)
    )


async def _find_key(db: AsyncConnection, scope: TenantScope, user_id: str, key: str) -> Row | None:
    stmt = sa.select(idempotency_keys).where(
        of_tenant(idempotency_keys, scope),
        idempotency_keys.c.user_id == user_id,
        idempotency_keys.c.key == key,
    )
    return (await db.execute(stmt)).one_or_none()


async def store_response(
    db: AsyncConnection,
    caller: Caller,
    encryptor: Encryptor,
    reserved: ReservedKey,
    response: StoredResponse,
) -> None:
    """Store the response in the transaction of the change: both are committed, or neither is."""
    scope = caller.scope
    own_encryptor = await load_organisation_encryptor(db, scope, encryptor)
    associated_data = _associated_data(scope, caller.user_id, reserved.key)
    await db.execute(
        _STORE_RESPONSE,
        {
            "organisation_id": scope.organisation_id,
            "user_id": caller.user_id,
            "key": reserved.key,
            "fingerprint": reserved.request_hash,
            "status": response.status,
            "encrypted_response": own_encryptor.encrypt(response.body, associated_data),
        },
    )


def _associated_data(scope: TenantScope, user_id: str, key: str) -> tuple[str, ...]:
    return ("idempotency_keys", "encrypted_response", scope.organisation_id, user_id, key)


async def delete_keys_of_user(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    """Delete the stored responses of a user who is being deleted."""
    await db.execute(
        sa.delete(idempotency_keys).where(
            of_tenant(idempotency_keys, scope), idempotency_keys.c.user_id == user_id
        )
    )


async def delete_old_keys(db: AsyncConnection, scope: TenantScope) -> int:
    """Delete keys older than RETENTION_DAYS and return their number."""
    age = sa.func.make_interval(0, 0, 0, RETENTION_DAYS)
    result = await db.execute(
        sa.delete(idempotency_keys).where(
            of_tenant(idempotency_keys, scope), idempotency_keys.c.create_time < sa.func.now() - age
        )
    )
    return result.rowcount
