"""A token is accepted by the routes of its own product and grant, and by no others.

Every protected route is called with every kind of token: access, id and refresh tokens of core,
portal, legacy users and legacy agents (API clients and stacks); then with the claims of one product
signed by the key of another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from nimbill.access.gate import Audience
from nimbill.application.installed import PRODUCTS
from nimbill.foundation.product import Product
from nimbill.legacy.audiences import LEGACY_AGENT, LEGACY_USER  # version 3
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.access.forged_tokens import build_token_forge
from tests.contract.declared_routes import Route, list_routes
from tests.identity.login.token_requests import TOKEN_PATHS, client_form, password_form
from tests.legacy.agents import create_agent  # version 3
from tests.legacy.broken_variants import T2_VARIANTS  # version 3
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service

TARGET = (
    "every route × {core, portal, legacy user, legacy agent} × {access, id, refresh}: "
    "accepted in exactly the declared cells; claims of one product signed by another's key: 0 "
    "accepted"
)
QUICK = 1
FULL = 5  # organisations, one after the other
SECONDS_MAX = 180

KINDS = ("access", "id", "refresh")
AGENT = "client_credentials of a stack"  # version 3
# for each audience the product and the grants whose tokens belong to it
GRANTS: Mapping[Audience, tuple[Product, tuple[str, ...]]] = {
    Audience.core: (Product.core, ("client_credentials", "password")),
    Audience.portal: (Product.portal, ("client_credentials", "password")),
    LEGACY_USER: (LEGACY, ("password",)),  # version 3
    LEGACY_AGENT: (LEGACY, ("client_credentials", AGENT)),  # version 3
}


@dataclass
class Cells:
    calls: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service, cells = environment.service, Cells()
    routes = [route for route in list_routes(service.app) if not route.is_public]
    for _ in range(size):
        service.organisation = service.new_organisation("T2")
        for audience in GRANTS:
            for kind, token in _tokens(service, audience):
                for route in routes:
                    _call_route(service, route, audience, kind, token, cells)
        _check_mixed_keys(service, cells)
    counted = ", ".join(f"{count} {what}" for what, count in sorted(cells.calls.items()))
    figures = f"{len(routes)} routes, {counted}; {len(cells.misses)} cells wrong"
    return Measurement(figures, cells.misses)


def _tokens(service: Service, audience: Audience) -> list[tuple[str, str]]:
    """Tokens that the endpoint issues to this audience, by kind; legacy issues only one kind."""
    product, grants = GRANTS[audience]
    found = []
    for grant in grants:
        organisation = service.organisation
        form = (
            client_form(organisation)
            if grant == "client_credentials"
            else password_form(organisation, organisation.username)
        )
        if grant == AGENT:  # version 3
            form = create_agent(service).form
        answer = service.http.post(TOKEN_PATHS[product], data=form)
        assert answer.status_code == 200, answer.text
        tokens = answer.json()
        found += [(kind, tokens[f"{kind}_token"]) for kind in KINDS if f"{kind}_token" in tokens]
    return found


def _call_route(
    service: Service, route: Route, audience: Audience, kind: str, token: str, cells: Cells
) -> None:
    """Call with nothing but the token: an accepted caller gets another error or a response."""
    if kind == "access" and route.operation.startswith("sign_out"):
        return  # would end the session in use; tests/identity/login/test_sessions.py signs out
    answer = service.http.request(
        route.method, route.fill_path(), headers={"Authorization": f"Bearer {token}"}
    )
    declared = kind == "access" and audience in route.handler.opt["audiences"]
    cells.calls["open" if declared else "closed"] += 1
    if _passed(answer) != declared or answer.status_code >= 500:
        cells.misses.append(
            f"{kind} token of {audience} at {route}: {answer.status_code}, "
            f"{'open' if declared else 'closed'} as declared"
        )


def _passed(answer: httpx.Response) -> bool:
    if answer.status_code == 401:
        return False
    return answer.status_code != 403 or answer.json()["code"] != "grant_not_admitted"


def _check_mixed_keys(service: Service, cells: Cells) -> None:
    """Claims of each product signed by each product's key: nine pairs, three of them valid."""
    forges = {product: build_token_forge(service, product) for product in PRODUCTS}
    for signer in PRODUCTS:
        for claimed in PRODUCTS:
            token = forges[signer].token(claims=forges[claimed].claims)
            answer = service.http.get(
                "/m/core/billinggroup", headers={"Authorization": f"Bearer {token}"}
            )
            expected = 200 if signer == claimed == Product.core else 401
            cells.calls["keys and claims"] += 1
            if answer.status_code != expected:
                cells.misses.append(
                    f"{claimed} claims signed by the {signer} key: {answer.status_code}"
                )


VARIANTS = [
    BrokenVariant(
        "audience-ignored",
        "The audience of a token is not checked.",
        "access token of core at",
        "access/gate.py",
        '_require_audience(claims, route.opt["audiences"])',
        "",
    ),
    BrokenVariant(
        "product-of-key-ignored",
        "A key of one product signs tokens of another.",
        "portal claims signed by the core key: 200",
        "access/tokens.py",
        'if payload.get("iss") != issuer.address or payload.get("aud") != key.product:',
        "if False:",
    ),
    *T2_VARIANTS,  # version 3
]
