"""OAuth grants: authenticate client and user, then issue tokens."""

import base64
import binascii
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote_plus

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.login_failures import (
    add_attempt,
    count_of_name,
    is_known_source,
    remember_source,
    remove_attempt,
)
from nimbill.access.password_hash_queue import QueueEntry, QueueLane
from nimbill.access.passwords import (
    client_secret_matches,
    enter_login_queue,
    hash_password,
    lane_of_client,
    needs_rehash,
    password_matches,
)
from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import TooManyRequests
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import PORTAL_USER_KINDS
from nimbill.identity.login import login_rate_limits, records
from nimbill.identity.login.bodies import TokenResponse
from nimbill.identity.login.constant_time_responses import wait_until_next_step
from nimbill.identity.login.refresh_tokens import (
    RefreshTokenReused,
    TokenFamily,
    TokenFamilyInvalid,
    TokenSubject,
    rotate_refresh_token,
    start_family,
)
from nimbill.identity.second_factors.verification import SecondStep, find_second_step
from nimbill.identity.users import records as users

basis = stated("Token endpoints")
password_basis = chosen("password-grant")


class TokenRequestError(Exception):
    """An OAuth error (RFC 6749); `status` is 401 if the client authentication failed."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error)
        self.error = error
        self.description = description
        self.status = status


@dataclass(frozen=True, slots=True)
class AuthenticatedClient:
    scope: TenantScope
    client_id: str
    user_id: str
    epoch: int  # credential epoch of its user


@dataclass(frozen=True, slots=True)
class CheckedUser:
    """A user whose password is correct, and the step that must follow."""

    user: Row
    second_step: SecondStep | None


UserGrant = Callable[
    [Resources, Product, AuthenticatedClient, Mapping[str, str]], Awaitable[TokenFamily]
]


async def issue_tokens(
    resources: Resources, product: Product, form: Mapping[str, str]
) -> TokenResponse:
    """Issue tokens for a token request, or raise TokenRequestError."""
    grant_type = form.get("grant_type", "")
    if not grant_type:
        raise TokenRequestError("invalid_request", "grant_type is required.")
    if grant_type not in GRANT_TYPES:
        raise TokenRequestError(
            "unsupported_grant_type", f"grant_type must be one of {', '.join(GRANT_TYPES)}."
        )
    if form.get("scope", "openid") not in ("openid", ""):
        raise TokenRequestError("invalid_scope", "scope must be openid.")
    async with resources.engine.connect() as db:
        client = await authenticate_client(db, resources, product, form)
        if grant_type == "client_credentials":
            family = await _grant_client_credentials(db, product, client)
            await db.commit()
            return build_token_response(resources, product, family)
    # Other grants hash passwords or revoke families: they hold no connection meanwhile, and each
    # step commits its own transaction.
    family = await USER_GRANTS[grant_type](resources, product, client, form)
    return build_token_response(resources, product, family)


async def authenticate_client(
    db: AsyncConnection, resources: Resources, product: Product, form: Mapping[str, str]
) -> AuthenticatedClient:
    """Check id and secret, and set the client's organisation on the transaction.

    An unknown id and a wrong secret take the same time and have the same response.
    """
    client_id, secret = read_client_credentials(form)
    row = await records.find_client(db, client_id, product)
    if not client_secret_matches(secret, row.secret_hash) or not is_product_allowed(
        product, row.kind
    ):
        raise invalid_client_error()
    await resources.use_signing_key(db, row.kid)
    return AuthenticatedClient(
        TenantScope(row.organisation_id), client_id, row.user_id, row.credential_epoch
    )


def read_client_credentials(form: Mapping[str, str]) -> tuple[str, str]:
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    if not client_id or not secret:
        raise TokenRequestError("invalid_client", "client_id and client_secret are required.", 401)
    return client_id, secret


def is_product_allowed(product: Product, kind: str) -> bool:
    """Reseller accounts and their subusers only get portal tokens."""
    return product == Product.portal or kind not in PORTAL_USER_KINDS


async def _grant_client_credentials(
    db: AsyncConnection, product: Product, client: AuthenticatedClient
) -> TokenFamily:
    """Issue tokens for the user of the client."""
    subject = TokenSubject(client.scope, client.user_id, client.client_id, client.epoch, "client")
    try:
        return await start_family(db, product, subject)
    except TokenFamilyInvalid:
        raise invalid_client_error() from None


def invalid_client_error() -> TokenRequestError:
    return TokenRequestError("invalid_client", "The client is unknown or its secret is wrong.", 401)


def _invalid_login_error() -> TokenRequestError:
    return TokenRequestError("invalid_grant", "The username or the password is wrong.")


async def _grant_password(
    resources: Resources, product: Product, client: AuthenticatedClient, form: Mapping[str, str]
) -> TokenFamily:
    """Authenticate a user through any client of the organisation."""
    username, password = form.get("username", ""), form.get("password", "")
    if not username or not password:
        raise TokenRequestError("invalid_request", "username and password are required.")
    user = await authenticate_user_with_client(
        resources, product, client, username=username, password=password
    )
    if user is None:
        raise _invalid_login_error()
    subject = TokenSubject(
        client.scope, user.user_id, client.client_id, user.credential_epoch, "user"
    )
    try:
        async with transaction(resources.engine, client.scope.organisation_id) as db:
            return await start_family(db, product, subject)
    except TokenFamilyInvalid:
        raise _invalid_login_error() from None


async def authenticate_user_with_client(
    resources: Resources,
    product: Product,
    client: AuthenticatedClient,
    *,
    username: str,
    password: str,
) -> Row | None:
    """Authenticate a user through a client that has proved its secret.

    A user with a second factor, or who must have one, is refused: a form cannot carry its proof.
    """
    began, source = time.monotonic(), client.client_id
    queue_source = login_rate_limits.get_client_source(source)
    with enter_login_queue(lane_of_client(queue_source), queue_source) as queue_entry:
        checked = await authenticate_user(
            resources,
            product,
            client.scope,
            queue_entry,
            username=username,
            password=password,
            source=source,
        )
    if checked is None:
        await login_rate_limits.count_client_failure(source, resources)
        await wait_until_next_step(began)
        return None
    if checked.second_step is not None:
        raise TokenRequestError(
            "invalid_grant",
            "This user signs in with a second factor, which this grant does not support. Use the "
            "client_credentials grant of an API client.",
        )
    return checked.user


async def authenticate_user(
    resources: Resources,
    product: Product,
    scope: TenantScope,
    queue_entry: QueueEntry,
    *,
    username: str,
    password: str,
    source: str | None,
) -> CheckedUser | None:
    """Count the attempt, check the password without a transaction, and uncount a correct one.

    The source becomes known now only if no second step follows.
    """
    async with transaction(resources.engine, scope.organisation_id) as db:
        user = await users.find_user_by_name(db, scope, username)
        # Also query for an unknown name, so that it takes the same time.
        user_id = user.user_id if user else ""
        known = source is not None and await is_known_source(db, scope, user_id, source)
        # Count by the stored spelling: names that the database regards as equal count together.
        name = user.username if user else username
        count = count_of_name(scope, name, source if known else None)
        attempt = await add_attempt(db, count)
    stored = user.password_hash if user else None
    queue_entry.lane = QueueLane.known_source if known else QueueLane.unknown_source
    try:
        matches = await password_matches(password, stored, resources.encryptor, queue_entry)
    except TooManyRequests:
        async with transaction(resources.engine, scope.organisation_id) as db:
            # The password was not checked, so the attempt does not count.
            await remove_attempt(db, attempt)
        raise
    if not matches or user is None or not is_product_allowed(product, user.kind):
        return None
    async with transaction(resources.engine, scope.organisation_id) as db:
        await remove_attempt(db, attempt)
        second_step = await find_second_step(db, scope, resources, user)
        if source and second_step is None:
            await remember_source(db, scope, user.user_id, source, at=clock.now())
    await _rehash_password(resources, scope, queue_entry, user, password)
    return CheckedUser(user, second_step)


async def _rehash_password(
    resources: Resources, scope: TenantScope, queue_entry: QueueEntry, user: Row, password: str
) -> None:
    """Hash with the current parameters; only now is the password known."""
    if not needs_rehash(user.password_hash):
        return
    with suppress(TooManyRequests):  # the next login tries again
        new_hash = await hash_password(password, resources.encryptor, queue_entry)
        async with transaction(resources.engine, scope.organisation_id) as db:
            await records.replace_password_hash(
                db, scope, user.user_id, old=user.password_hash, new=new_hash
            )


async def _grant_refresh_token(
    resources: Resources, product: Product, client: AuthenticatedClient, form: Mapping[str, str]
) -> TokenFamily:
    token = form.get("refresh_token", "")
    if not token:
        raise TokenRequestError("invalid_request", "refresh_token is required.")
    try:
        return await refresh_family(resources, product, client.scope, client.client_id, token)
    except TokenFamilyInvalid:
        raise TokenRequestError(
            "invalid_grant", "The refresh token is invalid, expired or revoked."
        ) from None


async def refresh_family(
    resources: Resources, product: Product, scope: TenantScope, client_id: str | None, token: str
) -> TokenFamily:
    """Return the successor of a token. Reuse of an old token revokes the whole family."""
    try:
        async with transaction(resources.engine, scope.organisation_id) as db:
            family = await rotate_refresh_token(
                db, resources.encryptor, scope, product, client_id=client_id, refresh_token=token
            )
            user = await users.find_user(db, scope, family.subject.user_id)
            if user is None or user.credential_epoch != family.subject.epoch:
                raise TokenFamilyInvalid
            return family
    except RefreshTokenReused as reused:
        # The revocation needs its own transaction, because the refusal rolls back.
        async with transaction(resources.engine, scope.organisation_id) as db:
            await records.revoke_family(db, reused.scope, reused.family_id)
        raise TokenFamilyInvalid from None


USER_GRANTS: Mapping[str, UserGrant] = {
    "password": _grant_password,
    "refresh_token": _grant_refresh_token,
}
GRANT_TYPES = ("client_credentials", *USER_GRANTS)


def build_token_response(
    resources: Resources, product: Product, family: TokenFamily
) -> TokenResponse:
    subject = family.subject
    token, lifetime = resources.tokens.issue(
        product,
        organisation_id=subject.scope.organisation_id,
        user_id=subject.user_id,
        client_id=subject.client_id or family.family_id,
        epoch=subject.epoch,
        subject_type=subject.subject_type,
        # a token of a console session names its family as its client
        family_id=family.family_id if subject.client_id else None,
    )
    id_token = resources.tokens.issue_id_token(
        product, user_id=subject.user_id, client_id=subject.client_id or family.family_id
    )
    return TokenResponse(
        access_token=token,
        expires_in=lifetime,
        id_token=id_token,
        refresh_token=family.refresh_token,
    )


def add_basic_credentials(form: dict[str, str], authorization: str | None) -> dict[str, str]:
    """Add client_id and client_secret from HTTP Basic authentication to the form."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return form
    try:
        name, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (ValueError, binascii.Error):
        raise TokenRequestError(
            "invalid_client", "The Authorization header cannot be read.", 401
        ) from None
    name, secret = unquote_plus(name), unquote_plus(secret)
    if form.get("client_id", name) != name:
        raise TokenRequestError(
            "invalid_request", "The form and the Authorization header name different clients."
        )
    if "\0" in name + secret:
        raise TokenRequestError("invalid_client", "The Authorization header cannot be read.", 401)
    return form | {"client_id": name, "client_secret": secret}
