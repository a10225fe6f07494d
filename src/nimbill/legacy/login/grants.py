"""The grants of the version 3 token endpoint."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.passwords import client_secret_matches
from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import TenantScope
from nimbill.identity.login.grants import (
    AuthenticatedClient,
    TokenRequestError,
    authenticate_client,
    authenticate_user_with_client,
    invalid_client_error,
    read_client_credentials,
)
from nimbill.identity.login.refresh_tokens import TokenSubject
from nimbill.legacy.login import records
from nimbill.legacy.login.bodies import LegacyTokenAnswer
from nimbill.legacy.stacks.stack_ids import is_stack_id
from nimbill.legacy.token_product import AGENT, LEGACY

# See docs/choices.md, legacy-grants.
# See docs/choices.md, agent-credentials.

AGENT_EPOCH = 0  # the token of a stack never changes


async def grant_legacy_token(resources: Resources, form: Mapping[str, str]) -> LegacyTokenAnswer:
    """`password` issues a token for a user, `client_credentials` for an API client or an agent."""
    grant_type = form.get("grant_type", "")
    if not grant_type:
        raise TokenRequestError("invalid_request", "grant_type is missing")
    if grant_type not in ("client_credentials", "password"):
        raise TokenRequestError(
            "unsupported_grant_type", "grant_type is client_credentials or password"
        )
    is_agent = is_stack_id(form.get("client_id", ""))
    async with resources.engine.connect() as db:
        if is_agent and grant_type == "client_credentials":
            return _issue(resources, await _authenticate_agent(db, resources, form))
        # an agent that uses the password grant is refused here: no client has a stack's id
        client = await authenticate_client(db, resources, LEGACY, form)
    as_client = TokenSubject(client.scope, client.user_id, client.client_id, client.epoch, "client")
    subject = (
        await _authenticate_user(resources, client, form) if grant_type == "password" else as_client
    )
    return _issue(resources, subject)


def _issue(resources: Resources, subject: TokenSubject) -> LegacyTokenAnswer:
    assert subject.client_id is not None, "every grant requires a client secret"
    token, lifetime = resources.tokens.issue(
        LEGACY,
        organisation_id=subject.scope.organisation_id,
        user_id=subject.user_id,
        client_id=subject.client_id,
        epoch=subject.epoch,
        subject_type=subject.subject_type,
    )
    return LegacyTokenAnswer(expires_in=lifetime, access_token=token)


async def _authenticate_agent(
    db: AsyncConnection, resources: Resources, form: Mapping[str, str]
) -> TokenSubject:
    """An unknown or deleted stack and a wrong token take the same time and give the same error."""
    stack_id, token = read_client_credentials(form)
    row = await records.find_agent(db, stack_id)
    if not client_secret_matches(token, row.token_hash):
        raise invalid_client_error()
    await resources.use_signing_key(db, row.kid)
    return TokenSubject(TenantScope(row.organisation_id), stack_id, stack_id, AGENT_EPOCH, AGENT)


async def _authenticate_user(
    resources: Resources, client: AuthenticatedClient, form: Mapping[str, str]
) -> TokenSubject:
    """Without username and password, which the specified body does not have, the client's user."""
    if "username" not in form and "password" not in form:
        return TokenSubject(client.scope, client.user_id, client.client_id, client.epoch, "user")
    username, password = form.get("username", ""), form.get("password", "")
    if not username or not password:
        raise TokenRequestError("invalid_request", "username and password must be given together")
    user = await authenticate_user_with_client(
        resources, LEGACY, client, username=username, password=password
    )
    if user is None:
        raise TokenRequestError("invalid_grant", "the username or the password is wrong")
    return TokenSubject(client.scope, user.user_id, client.client_id, user.credential_epoch, "user")
