"""POST /v3/access_token, for agents"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nimbill.access.caller import Caller
from nimbill.access.tokens import Claims
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.legacy.token_product import LEGACY
from tests.identity.login.token_requests import (
    LEGACY_TOKEN_PATH,
    basic_headers,
    client_form,
    create_user,
    decode_claims,
    issue_tokens,
    read_oauth_error,
    request_token,
)
from tests.legacy.agents import AgentLogin, agent_headers, create_agent, set_stack_status
from tests.running_service import PASSWORD, Service


def test_an_agent_logs_in_with_the_id_and_the_token_of_its_stack(service: Service) -> None:
    agent = create_agent(service)

    response = service.http.post(LEGACY_TOKEN_PATH, json=agent.form)

    assert response.status_code == 200
    assert list(response.json()) == ["token_type", "expires_in", "access_token"]
    assert response.json()["expires_in"] == 43_200
    claims = decode_claims(response.json()["access_token"])
    assert (claims["sub"], claims["client_id"]) == (agent.stack_id, agent.stack_id)
    assert claims["sub_type"] == "agent"
    assert claims["aud"] == "legacy"
    assert claims["tid"] == service.organisation.organisation_id


def test_a_form_and_http_basic_are_accepted(service: Service) -> None:
    agent = create_agent(service)
    header = basic_headers(agent.stack_id, agent.auth_token)

    assert issue_tokens(service, agent.form, LEGACY)
    by_header = service.http.post(
        LEGACY_TOKEN_PATH, data={"grant_type": "client_credentials"}, headers=header
    )
    assert decode_claims(by_header.json()["access_token"])["sub_type"] == "agent"


@pytest.mark.parametrize("named", [{}, {"username": "root", "password": PASSWORD}], ids=repr)
def test_an_agent_cannot_get_a_user_token(service: Service, named: dict[str, str]) -> None:
    agent = create_agent(service)

    response = request_token(service, agent.form | {"grant_type": "password"} | named, LEGACY)

    read_oauth_error(response, 401, "invalid_client")


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_an_agent_cannot_log_in_to_other_products(service: Service, product: Product) -> None:
    read_oauth_error(
        request_token(service, create_agent(service).form, product), 401, "invalid_client"
    )


def test_unknown_and_deleted_stacks_and_wrong_tokens_give_the_same_error(service: Service) -> None:
    right, deleted = create_agent(service), create_agent(service, stack_status="DELETE_COMPLETE")
    another = create_agent(service)
    logins = {
        "wrong token": AgentLogin(right.stack_id, "guessed"),
        "no such stack": AgentLogin(new_id("stk"), right.auth_token),
        "a deleted stack": deleted,
        "another stack's token": AgentLogin(right.stack_id, another.auth_token),
        "no stack at all": AgentLogin("stk_", right.auth_token),
    }

    responses = {name: request_token(service, login.form, LEGACY) for name, login in logins.items()}

    for response in responses.values():
        read_oauth_error(response, 401, "invalid_client")
    assert len({response.content for response in responses.values()}) == 1
    client = {"grant_type": "client_credentials", "client_id": "cl_x", "client_secret": "y"}
    assert request_token(service, client, LEGACY).content == responses["wrong token"].content


@pytest.mark.parametrize("missing", ["client_id", "client_secret"])
def test_client_id_and_client_secret_are_required(service: Service, missing: str) -> None:
    form = create_agent(service).form

    read_oauth_error(request_token(service, form | {missing: ""}, LEGACY), 401, "invalid_client")


def load_caller(service: Service, claims: Claims) -> Caller | None:
    async def load() -> Caller | None:
        async with service.resources.engine.connect() as db:
            return await service.resources.caller_loaders[claims.subject_type](db, claims)

    return service.run(load)


def read_claims(service: Service, agent: AgentLogin) -> Claims:
    token = agent_headers(service, agent)["Authorization"].removeprefix("Bearer ")
    return service.resources.tokens.verify(token)


def test_the_caller_is_the_agent_of_its_stack_without_permissions(service: Service) -> None:
    agent = create_agent(service)

    caller = load_caller(service, read_claims(service, agent))

    assert caller is not None
    assert caller.kind is UserKind.subuser
    assert caller.subject_type == "agent"
    assert caller.user_id == caller.client_id == agent.stack_id
    assert caller.username == "quiet-river"
    assert not caller.permissions
    assert caller.scope == TenantScope(service.organisation.organisation_id)


def test_a_token_is_invalid_as_soon_as_its_stack_is_deleted(service: Service) -> None:
    agent = create_agent(service)
    claims = read_claims(service, agent)

    for status in ("DELETE_IN_PROGRESS", "DELETE_FAILED", "UPDATE_FAILED"):
        set_stack_status(service, agent.stack_id, status)
        assert load_caller(service, claims) is not None, status
    set_stack_status(service, agent.stack_id, "DELETE_COMPLETE")

    assert load_caller(service, claims) is None


def test_an_agent_of_another_organisation_is_not_found(service: Service) -> None:
    claims = read_claims(service, create_agent(service))

    assert load_caller(service, replace(claims, organisation_id=new_id("org"))) is None
    elsewhere = service.new_organisation().organisation_id
    assert load_caller(service, replace(claims, organisation_id=elsewhere)) is None


def test_claims_with_the_key_of_another_product_are_refused(service: Service) -> None:
    claims = read_claims(service, create_agent(service))
    (core_key, *_) = service.resources.tokens.list_public_keys(Product.core)

    assert load_caller(service, replace(claims, kid=core_key.kid)) is None
    assert load_caller(service, replace(claims, product=Product.core)) is None


def test_an_agent_cannot_use_routes_of_users(service: Service) -> None:
    """Not even those that are open to every user of a product."""
    headers = agent_headers(service, create_agent(service))

    of_users = service.http.get("/v3/user/role", headers=headers)
    of_core = service.http.get("/m/auth/rbac/userroles", headers=headers)

    assert (of_users.status_code, of_users.json()["code"]) == (403, "grant_not_admitted")
    assert (of_core.status_code, of_core.json()["code"]) == (401, "token_of_other_product")


def test_a_user_with_the_subject_type_agent_is_refused(service: Service) -> None:
    """The subject type of a token alone does not make a caller an agent."""
    user = create_user(service)
    told = issue_tokens(service, client_form(user), LEGACY)
    claims = service.resources.tokens.verify(told["access_token"])

    assert load_caller(service, claims) is not None
    assert load_caller(service, replace(claims, subject_type="agent")) is None
