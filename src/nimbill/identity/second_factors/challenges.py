"""Challenges: short-lived tokens between the steps of signing in or registering a factor."""

import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.product import Product
from nimbill.identity.second_factors import records

LIFETIME = timedelta(minutes=5)
_TOKEN = re.compile(r"(?P<organisation>[a-z0-9_]{1,40})\.[A-Za-z0-9_-]{1,100}")


class ChallengePurpose(StrEnum):
    sign_in = "sign_in"  # prove a factor, after the password
    setup = "setup"  # register the first factor, after the password
    registration = "registration"  # register a factor in a session


@dataclass(frozen=True, slots=True)
class ChallengeToken:
    """Names the organisation, because who has it may not be signed in yet. Stored as a hash."""

    scope: TenantScope
    text: str

    @property
    def hash(self) -> bytes:
        return sha256(self.text.encode()).digest()


def parse_token(text: str) -> ChallengeToken | None:
    match = _TOKEN.fullmatch(text)
    return None if match is None else ChallengeToken(TenantScope(match["organisation"]), text)


async def create_challenge(
    db: AsyncConnection,
    scope: TenantScope,
    user: Row,
    *,
    product: Product,
    purpose: ChallengePurpose,
    challenge: bytes | None = None,
) -> ChallengeToken:
    text = f"{scope.organisation_id}.{secrets.token_urlsafe(32)}"
    token = ChallengeToken(scope, text)
    await records.add_challenge(
        db,
        scope,
        user,
        token_hash=token.hash,
        purpose=purpose,
        product=product,
        challenge=challenge,
        expire_time=clock.now() + LIFETIME,
    )
    return token


async def find_challenge(
    db: AsyncConnection,
    token: ChallengeToken,
    *,
    product: Product | None,
    purpose: ChallengePurpose,
) -> Row | None:
    """A registration belongs to the user of the session, whatever product it was begun in."""
    return await records.find_challenge(
        db, token.scope, token.hash, purpose=purpose, product=product, at=clock.now()
    )
