"""Requests full of canaries, valid and invalid, in every place where something can be sent."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from tests.proof.canaries import Canaries, find_canaries
from tests.proof.hostile_values import Raw, to_json

GROUPS = "/m/core/billinggroup"
EXPORT = "/m/core/exportcsv/billing-group"
USERS = "/m/u/users"
SECRET_FIELDS = ("password", "old_password", "client_secret", "refresh_token", "auth_token")


@dataclass
class CanaryClient:
    """Sends requests and checks that no response shows what it must not."""

    http: httpx.Client
    canaries: Canaries
    organisation: Mapping[str, str]
    password: str
    answers: int = 0
    misses: list[str] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    def send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        try:
            answer = self.http.request(method, path, **arguments)
        except httpx.RemoteProtocolError:  # the last body was too large and closed the connection
            answer = self.http.request(method, path, **arguments)
        self.answers += 1
        self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
        shown = answer.content + repr(answer.headers.raw).encode()
        forbidden = dict(self.canaries.secrets)
        if answer.status_code >= 400:
            forbidden |= self.canaries.words
        for needle in find_canaries(shown, forbidden):
            self.misses.append(f"{forbidden[needle]} in a {answer.status_code} of {path[:40]}")
        return answer

    # ── tokens ───────────────────────────────────────────────────────────────────────────────────

    def sign_in(self) -> str:
        """Get a token, and treat every issued token as a secret from then on."""
        client = {"client_id": self.organisation["client_id"], "username": "root"}
        client["client_secret"] = self.organisation["client_secret"]
        form = client | {"grant_type": "password", "password": self.password}
        answer = self.send("POST", "/core/access_token", data=form).json()
        if "refresh_token" in answer:
            self.canaries.keep("a refresh token", answer["refresh_token"])
            renew = {"grant_type": "refresh_token", "refresh_token": answer["refresh_token"]}
            answer = self.send("POST", "/core/access_token", data=client | renew).json()
            self.canaries.keep("a refresh token", answer["refresh_token"])
        token: str = answer["access_token"]
        self.canaries.keep("an access token", token.rpartition(".")[2])
        self.canaries.keep("an id token", answer["id_token"].rpartition(".")[2])
        return token

    def send_refused_token_requests(self) -> None:
        for form in self._wrong_forms():
            self.send("POST", "/core/access_token", data=form)
            self.send("POST", "/v3/access_token", json=form)  # version 3
            self.send(
                "POST", "/access_token", files={name: (None, value) for name, value in form.items()}
            )
        raw = f"client_secret={self.canaries.secret('client_secret, malformed')}&%ff%00=".encode()
        for kind in ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain"):
            self.send("POST", "/core/access_token", content=raw, headers={"Content-Type": kind})
        self.send("POST", "/core/access_token", content=raw * 2_000)
        basic = f"{self.canaries.word('client_id')}:{self.canaries.secret('Basic password')}"
        header = {"Authorization": f"Basic {base64.b64encode(basic.encode()).decode()}"}
        self.send("POST", "/core/access_token", data={"grant_type": "password"}, headers=header)
        for product in ("core", "portal"):
            user = {"organisation": self.organisation["organisation_id"], "username": "root"}
            wrong = user | {"password": self.canaries.secret("password, wrong, in a session")}
            self.send("POST", f"/{product}/session", json=wrong)
            cookie = f"nimbill_{product}={self.canaries.secret('a cookie')}"
            self.send("POST", f"/{product}/session/refresh", headers={"Cookie": cookie})

    def _wrong_forms(self) -> Iterator[dict[str, str]]:
        secret, word = self.canaries.secret, self.canaries.word
        known = {"client_id": self.organisation["client_id"]}
        known["client_secret"] = self.organisation["client_secret"]
        grant = {"grant_type": "password"}
        yield grant | known | {"username": "root", "password": secret("password, wrong")}
        yield (
            grant | known | {"username": word("username"), "password": secret("password, unknown")}
        )
        yield grant | known | {"username": "root", "password": secret("password, long") * 5}
        yield grant | {"client_id": word("client_id"), "client_secret": secret("secret, unknown")}
        yield grant | {"client_id": known["client_id"], "client_secret": secret("secret, wrong")}
        yield known | {"grant_type": word("grant_type")}
        yield known | {"grant_type": "refresh_token", "refresh_token": secret("a refresh token")}
        yield grant | known | {"scope": word("scope"), "password": secret("password, odd scope")}

    # ── everything else ──────────────────────────────────────────────────────────────────────────

    def create_records(self, token: str) -> None:
        """Create records whose words may be stored and whose secrets may not."""
        bearer = {"Authorization": f"Bearer {token}"}
        group = self.group()
        key = {"Idempotency-Key": self.canaries.word("Idempotency-Key")}
        self.send("POST", GROUPS, json=group, headers=bearer | key)
        self.send("POST", GROUPS, json=group, headers=bearer | key)
        self.send("POST", GROUPS, json=group | {"phone": "1"}, headers=bearer | key)
        self.send("POST", GROUPS, json=group, headers=bearer)
        user = self.subuser()
        created = self.send("POST", USERS, json=user, headers=bearer).json()
        self.send("POST", USERS, json=user, headers=bearer)
        new = {"password": self.canaries.secret("password, changed")}
        self.send("PUT", f"{USERS}/{created['user_id']}/password", json=new, headers=bearer)
        old = {"old_password": self.canaries.secret("old password, wrong")}
        self.send(
            "PUT",
            f"{USERS}/{self.organisation['root_user_id']}/password",
            json=new | old,
            headers=bearer,
        )
        client = self.send(
            "POST",
            f"{USERS}/client/{created['user_id']}",
            json={"name": "n"},
            headers=bearer | {"Idempotency-Key": "a-client"},
        ).json()
        repeated = self.http.post(
            f"{USERS}/client/{created['user_id']}",
            json={"name": "n"},
            headers=bearer | {"Idempotency-Key": "a-client"},
        )
        if repeated.content and repeated.json() != client:
            self.misses.append("repeating the creation of a client gave another response")
        self.canaries.keep("a client secret", client["client_secret"])
        self.send("GET", f"{USERS}/clients/{created['user_id']}", headers=bearer)
        for path in (GROUPS, USERS, "/m/core/audit", "/metrics", "/openapi.json"):
            self.send("GET", path, headers=bearer)

    def download_export(self, token: str) -> None:
        """Use a signed link, and one with another signature; neither may be written down."""
        bearer = {"Authorization": f"Bearer {token}"}
        created = self.send("POST", EXPORT, json={"redo": False}, headers=bearer).json()
        link = urlsplit(created["path"])
        fields = dict(parse_qsl(link.query))
        self.canaries.keep("the signature of a link", fields["s"])
        answer = self.send("GET", f"{link.path}?{link.query}")
        if answer.status_code != 200:
            self.misses.append(f"a signed link answered {answer.status_code}")
        forged = urlencode(fields | {"s": self.canaries.secret("a forged signature")})
        self.send("GET", f"{link.path}?{forged}")
        self.send("GET", f"{link.path}?{link.query}&{link.query}")

    def group(self) -> dict[str, Any]:
        """Also with unknown fields whose names look like secrets."""
        return {
            "billinggroup_id": self.canaries.word("billinggroup_id"),
            "billinggroup_name": self.canaries.word("billinggroup_name"),
            "company_name": self.canaries.word("company_name"),
            "remarks": self.canaries.word("remarks"),
            "inv_aggregate": True,
            **{name: self.canaries.secret(f"{name}, unknown field") for name in SECRET_FIELDS},
            "nested": [{"password": self.canaries.secret("password, nested")}],
        }

    def subuser(self) -> dict[str, Any]:
        return {
            "username": self.canaries.word("username"),
            "password": self.canaries.secret("password of a subuser"),
            "notification": {"email": "false"},
        }

    def send_refused_requests(self, token: str) -> None:
        bearer = {"Authorization": f"Bearer {token}"}
        secret, word = self.canaries.secret, self.canaries.word
        for authorization in (
            f"Bearer {secret('a token')}",
            f"Bearer {token[:-20]}{secret('the end of a token')}",
            f"Basic {secret('Basic')}",
            secret("Authorization"),
        ):
            self.send("GET", GROUPS, headers={"Authorization": authorization})
            self.send("POST", GROUPS, json=self.group(), headers={"Authorization": authorization})
        json_type = bearer | {"Content-Type": "application/json"}
        for body in self._invalid_bodies():
            self.send("POST", GROUPS, content=body, headers=json_type)
            self.send("POST", USERS, content=body, headers=json_type)
            self.send("POST", GROUPS, content=body, headers=bearer | {"Content-Type": "text/plain"})
        for path in (f"/{word('path')}", f"{GROUPS}/{word('id')}/resource", f"/%00{word('path')}"):
            self.send("GET", path, params={word("name"): word("value")}, headers=bearer)
            self.send("DELETE", path, headers=bearer | {"X-Proof": secret("a header")})
        invalid_key = {"Idempotency-Key": f"{word('Idempotency-Key, invalid')} \u00e9".encode()}
        self.send("POST", GROUPS, json=self.group(), headers=bearer | invalid_key)
        self.send("GET", "/m/core/audit", params={"from": word("from")}, headers=bearer)
        self.send(word("method").upper(), GROUPS, headers=bearer)

    def _invalid_bodies(self) -> Iterator[bytes]:
        word = self.canaries.word
        yield json.dumps(self.group() | {"inv_aggregate": word("a truth")}).encode()
        yield json.dumps(self.group() | {"language": word("a language")}).encode()
        yield json.dumps(self.group() | {"invoices": {word("a vendor"): {}}}).encode()
        yield json.dumps(self.subuser() | {"email": word("an address")}).encode()
        yield json.dumps(self.subuser() | {"username": word("a username") * 3}).encode()
        yield to_json(self.group() | {"remarks": Raw(f'"{word("a text")}\\u0000"')})
        yield to_json(self.group() | {"remarks": Raw(f'"{word("a text")}\\ud800"')})
        yield to_json(self.group() | {"remarks": Raw("NaN")})
        yield json.dumps(self.group()).encode()[:-4]
        yield json.dumps(self.group()).encode() + b" " * 1_100_000
        yield f'{{"{word("a name")}": 1, "{word("a name")}": '.encode()
        yield word("no JSON").encode()
