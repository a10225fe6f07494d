"""Templates full of secrets in every accepted form, and every request that shows stacks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tests.proof.leaky_requests import USERS, CanaryClient

TEMPLATES = "/v3/alm/template"
STACKS = "/v3/alm/stack"
SETTLES_WITHIN_SECONDS = 60

JSON, FORM = "application/json", "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Form:
    """A template as it is sent."""

    name: str
    what: dict[str, Any]


def forms_of(template: dict[str, Any]) -> Iterator[Form]:
    text = json.dumps(template)
    as_yaml = yaml.safe_dump(json.loads(text))  # without shared objects
    yield Form("an object", {"json": template})
    yield Form("a string", {"json": text})
    yield Form("a string of YAML", {"json": as_yaml})
    yield Form("in body", {"json": {"body": text}})
    yield Form("YAML", {"content": as_yaml.encode(), "headers": {"Content-Type": "text/yaml"}})
    yield Form("a form", {"data": {"body": text}})
    yield Form("a form in parts", {"files": {"template": (None, as_yaml)}})


@dataclass
class StackCanaryClient:
    """Sends requests to version 3; a request that should succeed and does not is a miss."""

    visitor: CanaryClient

    def visit(self) -> None:
        master = self.master()
        username, password = self._subuser()
        other = self._signed_in(username, password)
        made = [self._made(form, master) for form in forms_of(self.template())]
        stacks = [stack_id for stack_id in made if stack_id]
        for stack_id in stacks[1:]:
            self._changed(stack_id, master)
        self._compared(stacks, master)
        self._settled(stacks, master)
        self._keep_tokens(master)
        for stack_id in stacks:
            self._looked_at(stack_id, other)
        self._leave(stacks[0], master, other)
        self.be_refused(master)

    def template(self, **more: Any) -> dict[str, Any]:
        """Its texts may be stored and its secrets may not; some are in unusual places."""
        secret, word = self.visitor.canaries.secret, self.visitor.canaries.word
        provision = {
            "image": "${computed}",
            "volume_type": "${computed}",
            "instance_type": "t3.small",
            "instance_count": 1,
            "keypair": False,
            "unasked": [{"password": secret("password in a provision")}],
        }
        return {
            "version": "2026-11-15",
            "label": word("label"),
            "description": word("description"),
            "vendor": {
                "aws": {"cred": secret("cred"), "region": "eu-west-1"},
                "other": {"Cred": secret("cred of another vendor")},
            },
            "auth_token": secret("auth_token in a template"),
            "configurations": [
                {
                    "role": word("role"),
                    "flag": "web",
                    "provision": provision,
                    "container": {
                        "image": word("image"),
                        "environment_variables": {"A": word("a variable")},
                        "gitPrivateKey": f"-----BEGIN-----\n{secret('gitPrivateKey')}\n",
                        "gitRepo": word("gitRepo"),
                    },
                },
                {
                    "role": word("role"),
                    "flag": "db",
                    "provision": provision | {"instance_count": 0},
                    "container": {"container_git_private_key": secret("container_git_private_key")},
                },
            ],
            **more,
        }

    def master(self) -> dict[str, str]:
        return self._signed_in("root", self.visitor.password)

    # ── what passes ──────────────────────────────────────────────────────────────────────────────

    def _signed_in(self, username: str, password: str) -> dict[str, str]:
        organisation = self.visitor.organisation
        form = {
            "grant_type": "password",
            "client_id": organisation["client_id"],
            "client_secret": organisation["client_secret"],
            "username": username,
            "password": password,
        }
        token = self.visitor.send("POST", "/v3/access_token", json=form).json()["access_token"]
        self.visitor.canaries.keep("an access token", token.rpartition(".")[2])
        return {"Authorization": f"Bearer {token}"}

    def _subuser(self) -> tuple[str, str]:
        token = self.visitor.sign_in()
        user = self.visitor.subuser() | {"username": self.visitor.canaries.word("username")}
        bearer = {"Authorization": f"Bearer {token}"}
        self._expect(200, "POST", USERS, json=user, headers=bearer)
        return user["username"], user["password"]

    def _expect(self, status: int, method: str, path: str, **what: Any) -> Any:
        answer = self.visitor.send(method, path, **what)
        if answer.status_code != status:
            code = answer.json().get("code") if answer.is_error else ""
            self.visitor.misses.append(f"{answer.status_code} {code} of {method} {path[:40]}")
        return answer.json()

    def _made(self, form: Form, master: dict[str, str]) -> str:
        what = form.what | {"headers": master | form.what.get("headers", {})}
        made = self._expect(201, "POST", TEMPLATES, **what)
        return str(made.get("stack_id", ""))

    def _changed(self, stack_id: str, master: dict[str, str]) -> None:
        """Once with new secrets and once with the template as read."""
        path = f"{TEMPLATES}/{stack_id}"
        self._expect(202, "PUT", path, json=self.template(), headers=master)
        shown = self._expect(200, "GET", path, headers=master)
        self._expect(202, "PUT", path, json=shown, headers=master)

    def _compared(self, stacks: list[str], master: dict[str, str]) -> None:
        one, other = ({stack: {"version": "latest"}} for stack in stacks[:2])
        given = [form.what["json"] for form in forms_of(self.template()) if "json" in form.what]
        path = f"{TEMPLATES}/compare"
        self._expect(202, "POST", path, json={"id": [one, other]}, headers=master)
        for body in given:
            self._expect(202, "POST", path, json={"id": [one], "body": [body]}, headers=master)

    def _settled(self, stacks: list[str], master: dict[str, str]) -> None:
        """Wait until it is launched, so that launching and agents have logged everything."""
        until = time.monotonic() + SETTLES_WITHIN_SECONDS
        for stack_id in stacks:
            while "IN_PROGRESS" in (status := self._status(stack_id, master)):
                if time.monotonic() > until:
                    self.visitor.misses.append(f"a stack is still in {status}")
                    return
                time.sleep(0.2)
            if not status.endswith("_COMPLETE"):
                self.visitor.misses.append(f"a stack came to {status}")

    def _status(self, stack_id: str, master: dict[str, str]) -> str:
        """Not searched: the root user may see the token of a stack."""
        answer = self.visitor.http.get(f"{STACKS}/{stack_id}", headers=master)
        return str(answer.json().get("stack_status", answer.status_code))

    def _keep_tokens(self, master: dict[str, str]) -> None:
        for stack in self.visitor.http.get(STACKS, headers=master).json():
            self.visitor.canaries.keep("the token of a stack", stack["auth_token"])
            form = {"grant_type": "client_credentials", "client_id": stack["stack_id"]}
            form["client_secret"] = stack["auth_token"]
            issued = self.visitor.send("POST", "/v3/access_token", json=form).json()
            agent = {"Authorization": f"Bearer {issued['access_token']}"}
            self.visitor.canaries.keep("an agent's token", issued["access_token"].split(".")[2])
            self._only_for_its_agent(stack["stack_id"], agent)

    def _only_for_its_agent(self, stack_id: str, agent: dict[str, str]) -> None:
        """The one response that shows a git key; it must, otherwise the search proves nothing."""
        query = {"stack_id": stack_id, "flag": "web"}
        shown = self.visitor.http.get("/v3/alm/agent/config", params=query, headers=agent)
        key = shown.json().get("gitPrivateKey", "").strip().rpartition("\n")[2]
        if key not in self.visitor.canaries.secrets:
            self.visitor.misses.append("the agent of a stack was not told its git key")
        self.visitor.send("GET", STACKS, headers=agent)
        self.visitor.send("GET", f"{TEMPLATES}/{stack_id}", headers=agent)

    def _looked_at(self, stack_id: str, other: dict[str, str]) -> None:
        """By a user who may read everything, and by a client that calls agent endpoints."""
        self._expect(200, "GET", f"{STACKS}/{stack_id}", headers=other)
        self._expect(200, "GET", STACKS, headers=other)
        self._expect(200, "GET", f"{TEMPLATES}/{stack_id}", headers=other)
        self._expect(200, "GET", TEMPLATES, params={"stack_id": stack_id}, headers=other)
        query = {"stack_id": stack_id}
        self._expect(200, "GET", "/v3/alm/container", params=query, headers=other)
        organisation = self.visitor.organisation
        form = {"grant_type": "client_credentials", "client_id": organisation["client_id"]}
        form["client_secret"] = organisation["client_secret"]
        token = self.visitor.send("POST", "/v3/access_token", json=form).json()["access_token"]
        client = {"Authorization": f"Bearer {token}"}
        query = {"stack_id": stack_id, "flag": "web"}
        self._expect(200, "GET", "/v3/alm/agent/config", params=query, headers=client)

    def _leave(self, stack_id: str, master: dict[str, str], other: dict[str, str]) -> None:
        self._expect(200, "DELETE", f"{STACKS}/{stack_id}", headers=master)
        self._settled([stack_id], master)
        self._expect(200, "GET", f"{STACKS}/{stack_id}", headers=other)
        core = {"Authorization": f"Bearer {self.visitor.sign_in()}"}
        self._expect(200, "GET", "/m/core/audit", headers=core)

    # ── what does not ────────────────────────────────────────────────────────────────────────────

    def be_refused(self, master: dict[str, str]) -> None:
        secret, word = self.visitor.canaries.secret, self.visitor.canaries.word
        provision = {"image": word("image"), secret("a name"): 1}
        unsound: tuple[dict[str, Any], ...] = (
            {"version": word("version")},
            {"vendor": {"aws": {"cred": [secret("cred in a list")], "region": word("region")}}},
            {"vendor": secret("cred as a vendor")},
            {"configurations": [{"flag": word("flag") + "!", "provision": provision}]},
            {"configurations": secret("a key as layers")},
            {"nickname": [word("nickname")]},
        )
        for changes in unsound:
            for form in forms_of(self.template(**changes)):
                what = form.what | {"headers": master | form.what.get("headers", {})}
                self._expect(400, "POST", TEMPLATES, **what)
        for kind in (JSON, FORM, "application/yaml", "multipart/form-data", "text/plain"):
            headers = master | {"Content-Type": kind}
            for body in self._unreadable():
                self.visitor.send("POST", TEMPLATES, content=body, headers=headers)
                self.visitor.send("PUT", f"{TEMPLATES}/{word('id')}", content=body, headers=headers)
        for given in (secret("a body"), {"cred": [secret("cred")] * 2}, [secret("a list")]):
            named = {word("a stack"): {"version": word("a version")}}
            sent = {"id": [named], "body": [given]}
            self.visitor.send("POST", f"{TEMPLATES}/compare", json=sent, headers=master)

    def _unreadable(self) -> Iterator[bytes]:
        secret = self.visitor.canaries.secret
        sound = json.dumps(self.template())
        yield sound[:-9].encode()
        yield sound.replace("false", "NaN").encode()
        yield sound.encode() + b"\xff"
        yield f"vendor: &{secret('an anchor')} {secret('a value')}\nb: *c\n".encode()
        yield f"cred: !!{secret('a tag')} {secret('cred')}\n".encode()
        yield f"body=%ff{secret('a form')}&body={secret('a form')}".encode()
        yield f"cred: {secret('cred')}\ncred: {secret('cred')}\n".encode()
        yield sound.replace("2026-11-15", "x" * 300_000).encode()

    # ── what meets a broken database ─────────────────────────────────────────────────────────────

    def meet_errors(self, master: dict[str, str]) -> None:
        """While the database fails: nothing may be shown, whatever is answered."""
        for form in forms_of(self.template()):
            what = form.what | {"headers": master | form.what.get("headers", {})}
            self.visitor.send("POST", TEMPLATES, **what)
        self.visitor.send("GET", f"{TEMPLATES}?stack_id=x", headers=master)
