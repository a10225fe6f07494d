"""Register second factors and sign in with them through the API."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from typing import Any

import httpx

from nimbill.foundation.product import Product
from nimbill.identity.second_factors import totp
from tests.identity.login.console_sessions import sign_in, sign_in_for_token
from tests.identity.login.token_requests import bearer_headers
from tests.identity.second_factors.authenticator import Authenticator
from tests.problem_responses import read_problem
from tests.running_service import PASSWORD, Service

Headers = dict[str, str]
REGISTRATIONS = "/m/u/second-factors/registrations"
FACTORS = "/m/u/second-factors"


@dataclass
class AuthenticatorApp:
    secret: bytes

    def code(self, steps: int = 0) -> str:
        """Return the code of now, or of some time steps later."""
        step = int(time.time()) // totp.STEP_SECONDS + steps
        return totp.compute_code(self.secret, step)


def session_headers(service: Service, product: Product = Product.core, **fields: str) -> Headers:
    return bearer_headers(sign_in_for_token(service, product, **fields))


def begin(
    service: Service, headers: Headers, kind: str, password: str | None = PASSWORD
) -> httpx.Response:
    body = {"kind": kind, "old_password": password}
    return service.http.post(REGISTRATIONS, json=body, headers=headers)


def begin_for_body(service: Service, headers: Headers, kind: str) -> dict[str, Any]:
    response = begin(service, headers, kind)
    assert response.status_code == 200, response.text
    registration: dict[str, Any] = response.json()
    return registration


def complete(
    service: Service, headers: Headers, registration: dict[str, Any], **proof: Any
) -> httpx.Response:
    body = {
        "registration_token": registration["registration_token"],
        "name": "My factor",
        **proof,
    }
    return service.http.post(FACTORS, json=body, headers=headers)


def add_passkey(
    service: Service, headers: Headers, authenticator: Authenticator | None = None
) -> Authenticator:
    authenticator = authenticator or Authenticator()
    registration = begin_for_body(service, headers, "passkey")
    passkey = authenticator.create(registration["passkey"])
    response = complete(service, headers, registration, passkey=passkey)
    assert response.status_code == 200, response.text
    return authenticator


def add_app(service: Service, headers: Headers) -> AuthenticatorApp:
    """The first code is that of the step before, so that the code of now is still unused."""
    registration = begin_for_body(service, headers, "totp")
    app = AuthenticatorApp(decode_secret(registration["totp"]["secret"]))
    response = complete(service, headers, registration, totp_code=app.code(-1))
    assert response.status_code == 200, response.text
    return app


def decode_secret(text: str) -> bytes:
    return base64.b32decode(text + "=" * (-len(text) % 8))


def list_factors(
    service: Service, headers: Headers, user_id: str | None = None
) -> list[dict[str, Any]]:
    user_id = user_id or service.organisation.root_user_id
    response = service.http.get(f"/m/u/users/{user_id}/second-factors", headers=headers)
    assert response.status_code == 200, response.text
    factors: list[dict[str, Any]] = response.json()
    return factors


def enter_password(
    service: Service,
    product: Product = Product.core,
    code: str = "second_factor_required",
    **fields: str,
) -> dict[str, Any]:
    """Sign in with a correct password that is not enough, and return the problem."""
    response = sign_in(service, product, fields=fields)
    problem: dict[str, Any] = read_problem(response, 401)
    assert problem["code"] == code
    assert response.headers.get_list("set-cookie") == []
    return problem


def prove(
    service: Service,
    step: dict[str, Any],
    product: Product = Product.core,
    headers: Headers | None = None,
    **proof: Any,
) -> httpx.Response:
    body = {"sign_in_token": step["sign_in_token"], **proof}
    return service.http.post(f"/{product}/session/second-factor", json=body, headers=headers)


def set_requirement(service: Service, **settings: bool) -> None:
    response = service.http.put("/m/core/settings", json=settings, headers=service.root())
    assert response.status_code == 200, response.text


def is_refused(response: httpx.Response, code: str = "second_factor_wrong") -> bool:
    problem = read_problem(response, 401)
    assert response.headers.get_list("set-cookie") == []
    return bool(problem["code"] == code)
