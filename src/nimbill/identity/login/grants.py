"""One function per grant type, one table of them."""

import base64
import binascii
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote_plus

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.password_hash_queue import QueuePlace, Ring
from nimbill.access.passwords import (
    client_secret_matches,
    hash_password,
    is_outdated,
    login_under_way,
    password_matches,
    ring_of_client,
)
from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import TooMany
from nimbill.foundation.vocabulary import OF_THE_PORTAL_ALONE, Product
from nimbill.identity.login import login_rate_limits, password_attempts, records
from nimbill.identity.login.bodies import TokenAnswer
from nimbill.identity.login.constant_time_responses import wait_until_next_step
from nimbill.identity.login.refresh_tokens import (
    Family,
    NotStanding,
    Reused,
    Subject,
    continue_family,
    start_family,
)
from nimbill.identity.users import records as users

basis = stated("Token endpoints")
password_basis = chosen("password-grant")


class Refused(Exception):
    """A refusal in the words of RFC 6749; `status` is 401 where the client itself is unknown."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error)
        self.error = error
        self.description = description
        self.status = status


@dataclass(frozen=True, slots=True)
class Client:
    scope: TenantScope
    client_id: str
    user_id: str
    epoch: int  # of its user


GrantOfUser = Callable[[Resources, Product, Client, Mapping[str, str]], Awaitable[Family]]


async def grant(resources: Resources, product: Product, form: Mapping[str, str]) -> TokenAnswer:
    """A token for a form that names a known grant and stands; Refused otherwise."""
    kind = form.get("grant_type", "")
    if not kind:
        raise Refused("invalid_request", "grant_type is missing")
    if kind not in GRANTS:
        raise Refused("unsupported_grant_type", f"grant_type is one of {', '.join(GRANTS)}")
    if form.get("scope", "openid") not in ("openid", ""):
        raise Refused("invalid_scope", "scope is openid")
    async with resources.engine.connect() as db:
        client = await authenticated_client(db, resources, product, form)
        if kind == "client_credentials":
            family = await _of_client(db, product, client)
            await db.commit()
            return answer(resources, product, family)
    # the others take their time or end families: no connection is held, each step commits itself
    family = await OF_USERS[kind](resources, product, client, form)
    return answer(resources, product, family)


async def authenticated_client(
    db: AsyncConnection, resources: Resources, product: Product, form: Mapping[str, str]
) -> Client:
    """A stranger's id and a wrong secret cost the same and look the same.

    From here on the transaction is one of the client's organisation.
    """
    client_id, secret = credentials_in(form)
    row = await records.find_client(db, client_id, product)
    if not client_secret_matches(secret, row.secret_hash) or not may_have(product, row.kind):
        raise unknown_client()
    await resources.sign_with(db, row.kid)
    return Client(TenantScope(row.organisation_id), client_id, row.user_id, row.credential_epoch)


def credentials_in(form: Mapping[str, str]) -> tuple[str, str]:
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    if not client_id or not secret:
        raise Refused("invalid_client", "client_id and client_secret are required", 401)
    return client_id, secret


def may_have(product: Product, kind: str) -> bool:
    """A reseller account and its subusers get tokens of the portal alone."""
    return product == Product.portal or kind not in OF_THE_PORTAL_ALONE


async def _of_client(db: AsyncConnection, product: Product, client: Client) -> Family:
    """The client acts as the user it was made for."""
    subject = Subject(client.scope, client.user_id, client.client_id, client.epoch, "client")
    try:
        return await start_family(db, product, subject)
    except NotStanding:
        raise unknown_client() from None


def unknown_client() -> Refused:
    return Refused("invalid_client", "the client is unknown or its secret is wrong", 401)


def _wrong_password() -> Refused:
    return Refused("invalid_grant", "the username or the password is wrong")


async def _password(
    resources: Resources, product: Product, client: Client, form: Mapping[str, str]
) -> Family:
    """Any client of the organisation carries it; a wrong name and a wrong password look alike."""
    username, password = form.get("username", ""), form.get("password", "")
    if not username or not password:
        raise Refused("invalid_request", "username and password are required")
    user = await user_of_client(resources, product, client, username=username, password=password)
    if user is None:
        raise _wrong_password()
    subject = Subject(client.scope, user.user_id, client.client_id, user.credential_epoch, "user")
    try:
        async with transaction(resources.engine, client.scope.organisation_id) as db:
            return await start_family(db, product, subject)
    except NotStanding:
        raise _wrong_password() from None


async def user_of_client(
    resources: Resources, product: Product, client: Client, *, username: str, password: str
) -> Row | None:
    """Through a client that has shown its secret."""
    began, source = time.monotonic(), client.client_id
    waiting_as = login_rate_limits.source_of_client(source)
    with login_under_way(ring_of_client(waiting_as), waiting_as) as place:
        user = await user_by_password(
            resources,
            product,
            client.scope,
            place,
            username=username,
            password=password,
            source=source,
        )
    if user is None:
        login_rate_limits.count_client(source, resources)
        await wait_until_next_step(began)
    return user


async def user_by_password(
    resources: Resources,
    product: Product,
    scope: TenantScope,
    place: QueuePlace,
    *,
    username: str,
    password: str,
    source: str | None,
) -> Row | None:
    """Counted first, hashed outside any transaction, forgiven when right."""
    async with transaction(resources.engine, scope.organisation_id) as db:
        user = await users.find_user_by_name(db, scope, username)
        # asked for an unknown name too, so that it takes the same time
        whose = user.user_id if user else ""
        known = source is not None and await records.source_known(db, scope, whose, source)
        # as it is stored: what the database takes for the same name is one name here too
        name = user.username if user else username
        attempt = await password_attempts.count_attempt(
            db, scope, name=name, known_source=source if known else None
        )
    stored = user.password_hash if user else None
    place.ring = Ring.known if known else Ring.strangers
    try:
        matches = await password_matches(password, stored, resources.encryptor, place)
    except TooMany:
        async with transaction(resources.engine, scope.organisation_id) as db:
            await password_attempts.forgive(
                db, attempt
            )  # nothing was checked, so nothing was guessed
        raise
    if not matches or user is None or not may_have(product, user.kind):
        return None
    async with transaction(resources.engine, scope.organisation_id) as db:
        await password_attempts.forgive(db, attempt)
        if source:
            await records.remember_source(db, scope, user.user_id, source, at=clock.now())
    await _renew_hash(resources, scope, place, user, password)
    return user


async def _renew_hash(
    resources: Resources, scope: TenantScope, place: QueuePlace, user: Row, password: str
) -> None:
    """Only in this moment is the password here to be hashed by today's parameters."""
    if not is_outdated(user.password_hash):
        return
    with suppress(TooMany):  # the next login will do
        renewed = await hash_password(password, resources.encryptor, place)
        async with transaction(resources.engine, scope.organisation_id) as db:
            await records.renew_hash(db, scope, user.user_id, old=user.password_hash, new=renewed)


async def _refresh_token(
    resources: Resources, product: Product, client: Client, form: Mapping[str, str]
) -> Family:
    token = form.get("refresh_token", "")
    if not token:
        raise Refused("invalid_request", "refresh_token is required")
    try:
        return await refreshed(resources, product, client.scope, client.client_id, token)
    except NotStanding:
        raise Refused("invalid_grant", "the refresh token does not stand") from None


async def refreshed(
    resources: Resources, product: Product, scope: TenantScope, client_id: str | None, token: str
) -> Family:
    """The successor; a token that comes back too late ends its whole family."""
    try:
        async with transaction(resources.engine, scope.organisation_id) as db:
            family = await continue_family(
                db, resources.encryptor, scope, product, client_id=client_id, refresh_token=token
            )
            user = await users.find_user(db, scope, family.subject.user_id)
            if user is None or user.credential_epoch != family.subject.epoch:
                raise NotStanding
            return family
    except Reused as reused:
        # in a transaction of its own: it must outlive the refusal
        async with transaction(resources.engine, scope.organisation_id) as db:
            await records.revoke_family(db, reused.scope, reused.family_id)
        raise NotStanding from None


OF_USERS: Mapping[str, GrantOfUser] = {"password": _password, "refresh_token": _refresh_token}
GRANTS = ("client_credentials", *OF_USERS)


def answer(resources: Resources, product: Product, family: Family) -> TokenAnswer:
    subject = family.subject
    token, lifetime = resources.tokens.issue(
        product,
        organisation_id=subject.scope.organisation_id,
        user_id=subject.user_id,
        client_id=subject.client_id or family.family_id,
        epoch=subject.epoch,
        subject_type=subject.subject_type,
    )
    id_token = resources.tokens.issue_id_token(
        product, user_id=subject.user_id, client_id=subject.client_id or family.family_id
    )
    return TokenAnswer(
        access_token=token,
        expires_in=lifetime,
        id_token=id_token,
        refresh_token=family.refresh_token,
    )


def with_basic_credentials(form: dict[str, str], authorization: str | None) -> dict[str, str]:
    """The form with the client's name and secret from HTTP Basic, where they came that way."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return form
    try:
        name, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (ValueError, binascii.Error):
        raise Refused("invalid_client", "the Authorization header cannot be read", 401) from None
    name, secret = unquote_plus(name), unquote_plus(secret)
    if form.get("client_id", name) != name:
        raise Refused("invalid_request", "two different clients are named")
    if "\0" in name + secret:
        raise Refused("invalid_client", "the Authorization header cannot be read", 401)
    return form | {"client_id": name, "client_secret": secret}
