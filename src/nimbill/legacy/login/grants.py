"""The grants of the legacy token endpoint, deprecated with the API it serves."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.passwords import client_secret_matches
from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.identity.login.grants import (
    Client,
    Refused,
    authenticated_client,
    credentials_in,
    unknown_client,
    user_of_client,
)
from nimbill.identity.login.refresh_tokens import Subject
from nimbill.legacy.audiences import AGENT, LEGACY
from nimbill.legacy.login import records
from nimbill.legacy.login.bodies import LegacyTokenAnswer
from nimbill.legacy.stacks.stack_ids import is_stack_id

basis = chosen("legacy-grants")
agents_basis = chosen("agent-credentials")

EPOCH_OF_AGENTS = 0  # their credentials never change; they end with the stack


async def legacy_grant(resources: Resources, form: Mapping[str, str]) -> LegacyTokenAnswer:
    """`password` acts as a user, `client_credentials` as the server-side agent."""
    kind = form.get("grant_type", "")
    if not kind:
        raise Refused("invalid_request", "grant_type is missing")
    if kind not in ("client_credentials", "password"):
        raise Refused("unsupported_grant_type", "grant_type is client_credentials or password")
    by_stack = is_stack_id(form.get("client_id", ""))
    async with resources.engine.connect() as db:
        if by_stack and kind == "client_credentials":
            return _answer(resources, await _agent(db, resources, form))
        # no client has a stack's id, so that an agent who asks for a user is a stranger here
        client = await authenticated_client(db, resources, LEGACY, form)
    as_client = Subject(client.scope, client.user_id, client.client_id, client.epoch, "client")
    subject = await _user(resources, client, form) if kind == "password" else as_client
    return _answer(resources, subject)


def _answer(resources: Resources, subject: Subject) -> LegacyTokenAnswer:
    assert subject.client_id is not None, "who logs in here has shown a secret"
    token, lifetime = resources.tokens.issue(
        LEGACY,
        organisation_id=subject.scope.organisation_id,
        user_id=subject.user_id,
        client_id=subject.client_id,
        epoch=subject.epoch,
        subject_type=subject.subject_type,
    )
    return LegacyTokenAnswer(expires_in=lifetime, access_token=token)


async def _agent(db: AsyncConnection, resources: Resources, form: Mapping[str, str]) -> Subject:
    """An unknown stack, a deleted one and a wrong token cost the same and look the same."""
    stack_id, token = credentials_in(form)
    row = await records.find_agent(db, stack_id)
    if not client_secret_matches(token, row.token_hash):
        raise unknown_client()
    await resources.sign_with(db, row.kid)
    return Subject(TenantScope(row.organisation_id), stack_id, stack_id, EPOCH_OF_AGENTS, AGENT)


async def _user(resources: Resources, client: Client, form: Mapping[str, str]) -> Subject:
    """The user named; without a name (the specified body has none) the client's owner."""
    if "username" not in form and "password" not in form:
        return Subject(client.scope, client.user_id, client.client_id, client.epoch, "user")
    username, password = form.get("username", ""), form.get("password", "")
    if not username or not password:
        raise Refused("invalid_request", "username and password go together")
    user = await user_of_client(resources, LEGACY, client, username=username, password=password)
    if user is None:
        raise Refused("invalid_grant", "the username or the password is wrong")
    return Subject(client.scope, user.user_id, client.client_id, user.credential_epoch, "user")
