"""One valid request for every route, from which hostile requests are made."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from random import Random
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from nimbill.access.role_actions import RoleAction
from nimbill.application.installed import PRODUCTS
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.http.downloads import CSV_TYPE
from nimbill.identity.users.password_links import hash_link_token
from tests.contract.declared_routes import Route, all_routes
from tests.contract.route_requests import build_valid_request, session_headers
from tests.contract.superuser import Superuser
from tests.contract.tenants import Tenant, make_user, make_username, new_tenant
from tests.identity.second_factors.authenticator import Authenticator, encode
from tests.invoicing.exports.export_requests import create_link
from tests.proof.asgi_calls import as_headers
from tests.proof.hostile_requests import NOTHING, RequestDraft
from tests.running_service import PASSWORD, Service

ENDS_ITS_TOKENS = ("sign_out_of_core", "sign_out_of_portal")


@dataclass(frozen=True)
class ValidRequests:
    """The routes of one tenant, each as a request that should succeed."""

    drafts: list[tuple[Route, RequestDraft]]
    callers: Mapping[Product, Mapping[str, dict[str, str]]]

    @cached_property
    def _weights(self) -> list[int]:
        return [_weight(route) for route, _ in self.drafts]

    def each(self, random: Random) -> Iterator[RequestDraft]:
        """All of them, as root."""
        return (self._prepare(route, draft, "root", random) for route, draft in self.drafts)

    def pick(self, random: Random) -> RequestDraft:
        """One of them, as root, as a subuser with one action, or without a token."""
        route, draft = random.choices(self.drafts, self._weights)[0]
        caller = random.choices(("root", "one action", "nobody"), (14, 4, 2))[0]
        return self._prepare(route, draft, caller, random)

    def _prepare(
        self, route: Route, draft: RequestDraft, caller: str, random: Random
    ) -> RequestDraft:
        if route.is_public:
            return _with_unique_names(route, draft, random)
        callers = self.callers[random.choice(route.products)]
        if caller == "root" and route.operation in ENDS_ITS_TOKENS:
            caller = "admin"
        if caller == "root" and route.session_only:
            caller = "session"
        if caller != "nobody" and route.for_agents:
            caller = "agent"
        headers = [*as_headers(callers[caller]), *draft.headers]
        return _with_unique_names(route, replace(draft, headers=headers), random)


def _weight(route: Route) -> int:
    """Requests with a body or an id are tried more often."""
    return 6 if route.body is not None else 3 if route.path_names or route.is_mutating else 1


def _with_unique_names(route: Route, draft: RequestDraft, random: Random) -> RequestDraft:
    """New records get unique names, so that they can be created repeatedly."""
    if not route.operation.startswith("create_") or not isinstance(draft.value, dict):
        return draft
    renamed = {
        name: f"new-{random.randrange(10**9)}" if name in NAMES else value
        for name, value in draft.value.items()
    }
    return replace(draft, value=renamed)


CHALLENGE = b"c" * 32
PASSKEY_OPTIONS = {"rp_id": "localhost", "challenge": encode(CHALLENGE)}
NAMES = ("billinggroup_id", "username", "name")


def build_valid_requests(service: Service, superuser: Superuser, random: Random) -> ValidRequests:
    tenant = new_tenant(service, superuser, f"s{random.randrange(16**6):06x}")
    drafts = [(route, _draft(route, tenant)) for route in all_routes()]
    callers = {
        product: {
            "root": service.root(tenant.organisation, product),
            "session": session_headers(tenant, product),
            "admin": _caller(tenant, product, RoleAction.Admin),
            "one action": _caller(tenant, product, random.choice(list(RoleAction))),
            "agent": service.root(tenant.organisation, product, agent=True),
            "nobody": {},
        }
        for product in PRODUCTS
    }
    return ValidRequests(drafts, callers)


def _caller(tenant: Tenant, product: Product, action: RoleAction) -> dict[str, str]:
    return tenant.service.caller(action, product=product, organisation=tenant.organisation)


def _draft(route: Route, tenant: Tenant) -> RequestDraft:
    if route.is_public:
        make = PUBLIC_REQUESTS.get(route.operation)
        made: dict[str, Any] = make(tenant) if make else {}
        return RequestDraft(**{"method": route.method, "path": route.fill_path().encode()} | made)
    valid = build_valid_request(route, tenant)
    quoted = {name: quote(value, safe="") for name, value in valid.path.items()}
    draft = RequestDraft(
        method=route.method,
        path=route.fill_path(**quoted).encode(),
        query=urlencode(valid.query).encode(),
    )
    if isinstance(valid.body, str):
        return replace(draft, raw=valid.body.encode(), content_type=CSV_TYPE.encode())
    return replace(draft, value=NOTHING if valid.body is None else valid.body)


# ── public routes: token forms, sign-ins and downloads ───────────────────────────────────────────


def _client(tenant: Tenant) -> dict[str, str]:
    organisation = tenant.organisation
    return {
        "grant_type": "client_credentials",
        "client_id": organisation.client_id,
        "client_secret": organisation.client_secret,
        "scope": "openid",
    }


def _form(tenant: Tenant) -> dict[str, Any]:
    return {"form": tuple(_client(tenant).items())}


def _sign_in(tenant: Tenant) -> dict[str, Any]:
    """A new user with the password of the root user, which has second factors."""
    username, root = make_username(tenant), tenant.organisation.root_user_id
    password_hash = "(SELECT password_hash FROM users WHERE user_id = $2)"
    stmt = f"UPDATE users SET password_hash = {password_hash} WHERE username = $1"
    tenant.superuser.sql(stmt, username, root)
    user = {"organisation": tenant.organisation_id, "username": username}
    return {"value": user | {"password": PASSWORD}}


def _refresh_session(product: Product) -> Callable[[Tenant], dict[str, Any]]:
    def cookie(tenant: Tenant) -> dict[str, Any]:
        http = tenant.service.http
        answer = http.post(f"/{product}/session", json=_sign_in(tenant)["value"])
        http.cookies.clear()
        cookies = "; ".join(f"{name}={value}" for name, value in answer.cookies.items())
        return {"headers": [(b"cookie", cookies.encode())], "value": {}}

    return cookie


def _request_password(tenant: Tenant) -> dict[str, Any]:
    return {"value": {"organisation": tenant.organisation_id, "username": make_username(tenant)}}


def _choose_password(product: Product) -> Callable[[Tenant], dict[str, Any]]:
    def body(tenant: Tenant) -> dict[str, Any]:
        token, now = secrets.token_urlsafe(32), datetime.now(UTC)
        tenant.add(
            "password_links",
            token_hash=hash_link_token(token),
            user_id=make_user(tenant),
            purpose="reset",
            product=product,
            credential_epoch=1,
            create_time=now,
            expire_time=now + timedelta(hours=1),
        )
        link = {"organisation": tenant.organisation_id, "token": token}
        return {"value": link | {"password": PASSWORD}}

    return body


def _second_step(
    product: Product, purpose: str, make_body: Callable[[Tenant, str, str], dict[str, Any]]
) -> Callable[[Tenant], dict[str, Any]]:
    """A step of signing in for a new user, after the password."""

    def body(tenant: Tenant) -> dict[str, Any]:
        token, now = f"{tenant.organisation_id}.{secrets.token_urlsafe(32)}", datetime.now(UTC)
        user_id = make_user(tenant)
        tenant.add(
            "second_factor_challenges",
            token_hash=sha256(token.encode()).digest(),
            user_id=user_id,
            purpose=purpose,
            product=product,
            credential_epoch=1,
            kind="passkey",
            challenge=CHALLENGE,
            expire_time=now + timedelta(hours=1),
        )
        return {"value": make_body(tenant, token, user_id)}

    return body


def _prove(tenant: Tenant, token: str, user_id: str) -> dict[str, Any]:
    authenticator = Authenticator()
    tenant.add(
        "second_factors",
        factor_id=new_id("fct"),
        user_id=user_id,
        kind="passkey",
        name="key",
        credential_id=authenticator.credential_id,
        public_key=authenticator.encode_public_key(),
        sign_count=0,
        create_time=datetime.now(UTC),
    )
    return {"sign_in_token": token, "passkey": authenticator.sign(PASSKEY_OPTIONS)}


def _begin_setup(_tenant: Tenant, token: str, _user_id: str) -> dict[str, Any]:
    return {"sign_in_token": token, "kind": "totp"}


def _complete_setup(_tenant: Tenant, token: str, _user_id: str) -> dict[str, Any]:
    passkey = Authenticator().create(PASSKEY_OPTIONS)
    return {"registration_token": token, "name": "first", "passkey": passkey}


def _download(tenant: Tenant) -> dict[str, Any]:
    """A link that the tenant created; downloading needs no token."""
    address = urlsplit(
        create_link(tenant.service, headers=tenant.service.root(tenant.organisation))
    )
    return {"path": address.path.encode(), "query": address.query.encode()}


PUBLIC_REQUESTS: Mapping[str, Callable[[Tenant], dict[str, Any]]] = {
    "issue_core_token": _form,
    "issue_portal_token": _form,
    "issue_legacy_token": lambda tenant: {"value": _client(tenant)},  # version 3
    "download": _download,
    "sign_in_to_core": _sign_in,
    "sign_in_to_portal": _sign_in,
    "refresh_core_session": _refresh_session(Product.core),
    "refresh_portal_session": _refresh_session(Product.portal),
    "request_core_password_link": _request_password,
    "request_portal_password_link": _request_password,
    "choose_core_password": _choose_password(Product.core),
    "choose_portal_password": _choose_password(Product.portal),
    "prove_factor_to_core": _second_step(Product.core, "sign_in", _prove),
    "prove_factor_to_portal": _second_step(Product.portal, "sign_in", _prove),
    "begin_core_setup": _second_step(Product.core, "setup", _begin_setup),
    "begin_portal_setup": _second_step(Product.portal, "setup", _begin_setup),
    "complete_core_setup": _second_step(Product.core, "setup", _complete_setup),
    "complete_portal_setup": _second_step(Product.portal, "setup", _complete_setup),
}
