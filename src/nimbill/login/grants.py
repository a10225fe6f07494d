"""One function per grant type, one table of them."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.passwords import client_secret_matches, password_matches
from nimbill.access.visit import Resources
from nimbill.basis import stated
from nimbill.directory import Named, organisation_of
from nimbill.login.bodies import TokenAnswer
from nimbill.storage import Scope, act_for
from nimbill.users import records
from nimbill.vocabulary import Product

basis = stated("Token endpoints")


class Refused(Exception):
    """A refusal in the words of RFC 6749; `status` is 401 where the client itself is unknown."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error)
        self.error = error
        self.description = description
        self.status = status


@dataclass(frozen=True, slots=True)
class Subject:
    """Who the token will speak for."""

    scope: Scope
    user_id: str
    client_id: str
    epoch: int
    subject_type: str


@dataclass(frozen=True, slots=True)
class Client:
    scope: Scope
    client_id: str
    user_id: str


async def grant(
    db: AsyncConnection, resources: Resources, product: Product, form: Mapping[str, str]
) -> TokenAnswer:
    """A token for a form that names a known grant and stands; Refused otherwise."""
    kind = form.get("grant_type", "")
    if not kind:
        raise Refused("invalid_request", "grant_type is missing")
    if kind not in GRANTS:
        raise Refused("unsupported_grant_type", "grant_type is password or client_credentials")
    if form.get("scope", "openid") != "openid":
        raise Refused("invalid_scope", "scope is openid")
    client = await _authenticated_client(db, form)
    subject = await GRANTS[kind](db, resources, client, form)
    return _answer(resources, product, subject)


async def _authenticated_client(db: AsyncConnection, form: Mapping[str, str]) -> Client:
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    if not client_id or not secret:
        raise Refused("invalid_client", "client_id and client_secret are required", 401)
    organisation_id = await organisation_of(db, Named.api_client, client_id)
    scope = Scope(organisation_id or "")
    await act_for(db, scope.organisation_id)
    row = await records.find_client(db, scope, client_id)
    if not client_secret_matches(secret, row.secret_hash if row else None) or row is None:
        raise Refused("invalid_client", "the client is unknown or its secret is wrong", 401)
    return Client(scope, client_id, row.user_id)


async def _client_credentials(
    db: AsyncConnection, _resources: Resources, client: Client, _form: Mapping[str, str]
) -> Subject:
    """The client acts as the user it was made for."""
    user = await records.find_user(db, client.scope, client.user_id)
    assert user is not None, "a client is deleted with its user"
    return Subject(client.scope, client.user_id, client.client_id, user.credential_epoch, "client")


async def _password(
    db: AsyncConnection, resources: Resources, client: Client, form: Mapping[str, str]
) -> Subject:
    """Any client of the organisation carries it; a wrong name and a wrong password look alike."""
    username, password = form.get("username", ""), form.get("password", "")
    if not username or not password:
        raise Refused("invalid_request", "username and password are required")
    user = await records.find_user_by_name(db, client.scope, username)
    stored = str(user.password_hash) if user else None
    if not await password_matches(password, stored, resources.sealer) or user is None:
        raise Refused("invalid_grant", "the username or the password is wrong")
    return Subject(client.scope, user.user_id, client.client_id, user.credential_epoch, "user")


Grant = Callable[[AsyncConnection, Resources, Client, Mapping[str, str]], Awaitable[Subject]]

GRANTS: Mapping[str, Grant] = {
    "client_credentials": _client_credentials,
    "password": _password,
}


def _answer(resources: Resources, product: Product, subject: Subject) -> TokenAnswer:
    token, lifetime = resources.tokens.issue(
        product,
        organisation_id=subject.scope.organisation_id,
        user_id=subject.user_id,
        client_id=subject.client_id,
        epoch=subject.epoch,
        subject_type=subject.subject_type,
    )
    id_token = resources.tokens.issue_id_token(
        product, user_id=subject.user_id, client_id=subject.client_id
    )
    return TokenAnswer(access_token=token, expires_in=lifetime, id_token=id_token)


def with_basic_credentials(form: dict[str, str], authorization: str | None) -> dict[str, str]:
    """The form with the client's name and secret from HTTP Basic, where they came that way."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return form
    try:
        name, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (ValueError, binascii.Error):
        raise Refused("invalid_client", "the Authorization header cannot be read", 401) from None
    if form.get("client_id", unquote_plus(name)) != unquote_plus(name):
        raise Refused("invalid_request", "two different clients are named")
    return form | {"client_id": unquote_plus(name), "client_secret": unquote_plus(secret)}
