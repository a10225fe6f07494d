"""A repeat with the same Idempotency-Key gets the first answer; kept with the effect itself."""

import re
from dataclasses import dataclass
from hashlib import sha256

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.signing_keys import organisation_sealer
from nimbill.database.tenant_scope import Row, TenantScope, metadata
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, Invalid, Violation

HEADER = "Idempotency-Key"
DAYS_KEPT = 8  # at least the seven promised, whenever the clean-up runs
_KEY = re.compile(r"[\x21-\x7e]{1,255}")

basis = chosen("idempotency-keys")

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("sealed_answer", sa.LargeBinary, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_KEEP = sa.text(
    "INSERT INTO idempotency_keys "
    "(organisation_id, user_id, key, fingerprint, status, sealed_answer) "
    "SELECT organisation_id, user_id, :key, :fingerprint, :status, :sealed_answer FROM users "
    "WHERE organisation_id = :organisation_id AND user_id = :user_id "
    "ON CONFLICT DO NOTHING"  # a route that pauses lets a repeat in, which ends with the same
)


@dataclass(frozen=True, slots=True)
class HeldKey:
    """A key this request is the first to use; its answer will be kept."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    status: int
    body: bytes


def fingerprint(method: str, path: str, query: bytes, content_type: str, body: bytes) -> bytes:
    """Equal for equal requests; the order of keys in a JSON object makes no difference."""
    if "json" in content_type and body:
        body = exact_json.canonical(exact_json.read(body))
    return sha256(b"\0".join([method.encode(), path.encode(), query, body])).digest()


async def hold(
    db: AsyncConnection, caller: Caller, sealer: Encryptor, key: str, print_: bytes
) -> HeldKey | FirstAnswer:
    """The first answer where there is one; 409 while another request holds the key."""
    if not _KEY.fullmatch(key):
        rule = "1 to 255 printable ASCII characters"
        raise Invalid("rule_broken", "the request breaks a rule", [Violation(HEADER, rule)])
    scope = caller.scope
    name = f"{scope.organisation_id} {caller.user_id} {key}"
    number = int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)
    if not (await db.execute(sa.select(sa.func.pg_try_advisory_xact_lock(number)))).scalar_one():
        raise Conflict("idempotency_key_in_use", "a request with this key is still running")
    kept = await _kept(db, scope, caller.user_id, key)
    if kept is None:
        return HeldKey(key, print_)
    if kept.fingerprint != print_:
        raise Conflict("idempotency_key_reused", "this key was used for another request")
    opener = await organisation_sealer(db, scope, sealer)
    place = _place(scope, caller.user_id, key)
    return FirstAnswer(kept.status, opener.open(kept.sealed_answer, place))


async def _kept(db: AsyncConnection, scope: TenantScope, user_id: str, key: str) -> Row | None:
    question = sa.select(idempotency_keys).where(
        idempotency_keys.c.organisation_id == scope.organisation_id,
        idempotency_keys.c.user_id == user_id,
        idempotency_keys.c.key == key,
    )
    return (await db.execute(question)).one_or_none()


async def keep(
    db: AsyncConnection, caller: Caller, sealer: Encryptor, held: HeldKey, answer: FirstAnswer
) -> None:
    """In the transaction of the effect: both are there, or neither is.

    Whoever deleted himself can repeat nothing, and nothing is kept for him.
    """
    scope = caller.scope
    closer = await organisation_sealer(db, scope, sealer)
    await db.execute(
        _KEEP,
        {
            "organisation_id": scope.organisation_id,
            "user_id": caller.user_id,
            "key": held.key,
            "fingerprint": held.fingerprint,
            "status": answer.status,
            "sealed_answer": closer.seal(answer.body, _place(scope, caller.user_id, held.key)),
        },
    )


def _place(scope: TenantScope, user_id: str, key: str) -> tuple[str, ...]:
    return ("idempotency_keys", "sealed_answer", scope.organisation_id, user_id, key)


async def forget_old_keys(db: AsyncConnection, scope: TenantScope) -> int:
    """Delete what is older than DAYS_KEPT; answers how many."""
    age = sa.func.make_interval(0, 0, 0, DAYS_KEPT)
    done = await db.execute(
        sa.delete(idempotency_keys).where(
            idempotency_keys.c.organisation_id == scope.organisation_id,
            idempotency_keys.c.create_time < sa.func.now() - age,
        )
    )
    return done.rowcount
