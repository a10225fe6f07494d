"""Refresh tokens: opaque, stored hashed, rotated at each use, a whole family ended by a thief."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from nimbill.identity.login import records

basis = chosen("refresh-tokens")

IDLE = timedelta(hours=12)
ABSOLUTE = timedelta(days=7)
SAME_ANSWER = timedelta(seconds=10)  # a lost answer may be asked for again


@dataclass(frozen=True, slots=True)
class Subject:
    """Who a token speaks for; without a client it is a console's session."""

    scope: TenantScope
    user_id: str
    client_id: str | None
    epoch: int
    subject_type: str


@dataclass(frozen=True, slots=True)
class Family:
    subject: Subject
    family_id: str
    refresh_token: str


class Reused(Exception):
    """A refresh token came back after its successor was given out: end its family."""

    def __init__(self, scope: TenantScope, family_id: str) -> None:
        super().__init__(family_id)
        self.scope = scope
        self.family_id = family_id


class NotStanding(Exception):
    """Unknown, expired, revoked, another client's, or from before a password change."""


async def start_family(db: AsyncConnection, product: Product, subject: Subject) -> Family:
    """NotStanding where its user or its client was deleted in this very moment."""
    family = Family(subject, new_id("ses"), new_refresh_token())
    try:
        await records.add_family(
            db,
            subject.scope,
            at=clock.now(),
            token_hash=token_hash(family.refresh_token),
            family_id=family.family_id,
            user_id=subject.user_id,
            client_id=subject.client_id,
            product=product,
            subject_type=subject.subject_type,
            epoch=subject.epoch,
        )
    except IntegrityError:
        raise NotStanding from None
    return family


async def continue_family(
    db: AsyncConnection,
    encryptor: Encryptor,
    scope: TenantScope,
    product: Product,
    *,
    client_id: str | None,
    refresh_token: str,
) -> Family:
    """The one successor of a refresh token; the same again within ten seconds."""
    hash_ = token_hash(refresh_token)
    row = await records.take_refresh_token(db, scope, hash_)
    if row is None or not _stands(row, product, client_id):
        raise NotStanding
    subject = Subject(scope, row.user_id, client_id, row.credential_epoch, row.subject_type)
    own = await load_organisation_encryptor(db, scope, encryptor)
    place = ("refresh_tokens", "sealed_successor", scope.organisation_id, hash_.hex())
    if row.used_time is not None:
        if abs(clock.now() - row.used_time) > SAME_ANSWER:  # a clock put back is no excuse
            raise Reused(scope, row.family_id)
        successor = own.decrypt(row.sealed_successor, place).decode()
        return Family(subject, row.family_id, successor)
    successor = new_refresh_token()
    await records.use_refresh_token(
        db,
        scope,
        hash_,
        at=clock.now(),
        successor_hash=token_hash(successor),
        sealed_successor=own.encrypt(successor.encode(), place),
        family_id=row.family_id,
    )
    return Family(subject, row.family_id, successor)


def _stands(row: Row, product: Product, client_id: str | None) -> bool:
    now = clock.now()
    return (
        not row.revoked
        and row.product == product
        and row.client_id == client_id
        and now - row.issue_time <= IDLE
        and now - row.create_time <= ABSOLUTE
    )


def new_refresh_token() -> str:
    """256 random bits; says nothing, means nothing without our records."""
    return f"nb_rt_{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> bytes:
    return sha256(token.encode()).digest()
