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
SETTLE_SECONDS_MAX = 60

JSON, FORM = "application/json", "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class TemplateEncoding:
    """A template as it is sent."""

    name: str
    arguments: dict[str, Any]


def template_forms(template: dict[str, Any]) -> Iterator[TemplateEncoding]:
    text = json.dumps(template)
    as_yaml = yaml.safe_dump(json.loads(text))  # without shared objects
    yield TemplateEncoding("an object", {"json": template})
    yield TemplateEncoding("a string", {"json": text})
    yield TemplateEncoding("a string of YAML", {"json": as_yaml})
    yield TemplateEncoding("in body", {"json": {"body": text}})
    yield TemplateEncoding(
        "YAML", {"content": as_yaml.encode(), "headers": {"Content-Type": "text/yaml"}}
    )
    yield TemplateEncoding("a form", {"data": {"body": text}})
    yield TemplateEncoding("a form in parts", {"files": {"template": (None, as_yaml)}})


@dataclass
class StackCanaryClient:
    """Sends requests to version 3; a request that should succeed and does not is a miss."""

    canary_client: CanaryClient

    def run(self) -> None:
        master = self.master()
        username, password = self._subuser()
        subuser = self._sign_in(username, password)
        created = [self._create_stack(form, master) for form in template_forms(self.template())]
        stacks = [stack_id for stack_id in created if stack_id]
        for stack_id in stacks[1:]:
            self._update_stack(stack_id, master)
        self._compare_templates(stacks, master)
        self._wait_until_settled(stacks, master)
        self._keep_tokens(master)
        for stack_id in stacks:
            self._read_stack(stack_id, subuser)
        self._delete_stack(stacks[0], master, subuser)
        self.send_refused_requests(master)

    def template(self, **more: Any) -> dict[str, Any]:
        """Its texts may be stored and its secrets may not; some are in unusual places."""
        secret, word = self.canary_client.canaries.secret, self.canary_client.canaries.word
        provision = {
            "image": "${computed}",
            "volume_type": "${computed}",
            "instance_type": "t3.small",
            "instance_count": 1,
            "keypair": False,
            "unknown": [{"password": secret("password in a provision")}],
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
        return self._sign_in("root", self.canary_client.password)

    # ── accepted requests ────────────────────────────────────────────────────────────────────────

    def _sign_in(self, username: str, password: str) -> dict[str, str]:
        organisation = self.canary_client.organisation
        form = {
            "grant_type": "password",
            "client_id": organisation["client_id"],
            "client_secret": organisation["client_secret"],
            "username": username,
            "password": password,
        }
        token = self.canary_client.send("POST", "/v3/access_token", json=form).json()[
            "access_token"
        ]
        self.canary_client.canaries.keep("an access token", token.rpartition(".")[2])
        return {"Authorization": f"Bearer {token}"}

    def _subuser(self) -> tuple[str, str]:
        token = self.canary_client.sign_in()
        user = self.canary_client.subuser() | {
            "username": self.canary_client.canaries.word("username")
        }
        bearer = {"Authorization": f"Bearer {token}"}
        self._expect(200, "POST", USERS, json=user, headers=bearer)
        return user["username"], user["password"]

    def _expect(self, status: int, method: str, path: str, **arguments: Any) -> Any:
        answer = self.canary_client.send(method, path, **arguments)
        if answer.status_code != status:
            code = answer.json().get("code") if answer.is_error else ""
            self.canary_client.misses.append(f"{answer.status_code} {code} of {method} {path[:40]}")
        return answer.json()

    def _create_stack(self, form: TemplateEncoding, master: dict[str, str]) -> str:
        arguments = form.arguments | {"headers": master | form.arguments.get("headers", {})}
        created = self._expect(201, "POST", TEMPLATES, **arguments)
        return str(created.get("stack_id", ""))

    def _update_stack(self, stack_id: str, master: dict[str, str]) -> None:
        """Once with new secrets and once with the template as read."""
        path = f"{TEMPLATES}/{stack_id}"
        self._expect(202, "PUT", path, json=self.template(), headers=master)
        shown = self._expect(200, "GET", path, headers=master)
        self._expect(202, "PUT", path, json=shown, headers=master)

    def _compare_templates(self, stacks: list[str], master: dict[str, str]) -> None:
        one, other = ({stack: {"version": "latest"}} for stack in stacks[:2])
        templates = [
            form.arguments["json"]
            for form in template_forms(self.template())
            if "json" in form.arguments
        ]
        path = f"{TEMPLATES}/compare"
        self._expect(202, "POST", path, json={"id": [one, other]}, headers=master)
        for body in templates:
            self._expect(202, "POST", path, json={"id": [one], "body": [body]}, headers=master)

    def _wait_until_settled(self, stacks: list[str], master: dict[str, str]) -> None:
        """Wait until it is launched, so that launching and agents have logged everything."""
        until = time.monotonic() + SETTLE_SECONDS_MAX
        for stack_id in stacks:
            while "IN_PROGRESS" in (status := self._status(stack_id, master)):
                if time.monotonic() > until:
                    self.canary_client.misses.append(f"a stack is still in {status}")
                    return
                time.sleep(0.2)
            if not status.endswith("_COMPLETE"):
                self.canary_client.misses.append(f"a stack ended in {status}")

    def _status(self, stack_id: str, master: dict[str, str]) -> str:
        """Not searched: the root user may see the token of a stack."""
        answer = self.canary_client.http.get(f"{STACKS}/{stack_id}", headers=master)
        return str(answer.json().get("stack_status", answer.status_code))

    def _keep_tokens(self, master: dict[str, str]) -> None:
        for stack in self.canary_client.http.get(STACKS, headers=master).json():
            self.canary_client.canaries.keep("the token of a stack", stack["auth_token"])
            form = {"grant_type": "client_credentials", "client_id": stack["stack_id"]}
            form["client_secret"] = stack["auth_token"]
            issued = self.canary_client.send("POST", "/v3/access_token", json=form).json()
            agent = {"Authorization": f"Bearer {issued['access_token']}"}
            self.canary_client.canaries.keep(
                "an agent's token", issued["access_token"].split(".")[2]
            )
            self._read_agent_config(stack["stack_id"], agent)

    def _read_agent_config(self, stack_id: str, agent: dict[str, str]) -> None:
        """Check that an agent receives its git key, so that the search would find it elsewhere."""
        query = {"stack_id": stack_id, "flag": "web"}
        shown = self.canary_client.http.get("/v3/alm/agent/config", params=query, headers=agent)
        key = shown.json().get("gitPrivateKey", "").strip().rpartition("\n")[2]
        if key not in self.canary_client.canaries.secrets:
            self.canary_client.misses.append("the agent of a stack did not receive its git key")
        self.canary_client.send("GET", STACKS, headers=agent)
        self.canary_client.send("GET", f"{TEMPLATES}/{stack_id}", headers=agent)

    def _read_stack(self, stack_id: str, subuser: dict[str, str]) -> None:
        """By a user who may read everything, and by a client that calls agent endpoints."""
        self._expect(200, "GET", f"{STACKS}/{stack_id}", headers=subuser)
        self._expect(200, "GET", STACKS, headers=subuser)
        self._expect(200, "GET", f"{TEMPLATES}/{stack_id}", headers=subuser)
        self._expect(200, "GET", TEMPLATES, params={"stack_id": stack_id}, headers=subuser)
        query = {"stack_id": stack_id}
        self._expect(200, "GET", "/v3/alm/container", params=query, headers=subuser)
        organisation = self.canary_client.organisation
        form = {"grant_type": "client_credentials", "client_id": organisation["client_id"]}
        form["client_secret"] = organisation["client_secret"]
        token = self.canary_client.send("POST", "/v3/access_token", json=form).json()[
            "access_token"
        ]
        client = {"Authorization": f"Bearer {token}"}
        query = {"stack_id": stack_id, "flag": "web"}
        self._expect(200, "GET", "/v3/alm/agent/config", params=query, headers=client)

    def _delete_stack(self, stack_id: str, master: dict[str, str], subuser: dict[str, str]) -> None:
        self._expect(200, "DELETE", f"{STACKS}/{stack_id}", headers=master)
        self._wait_until_settled([stack_id], master)
        self._expect(200, "GET", f"{STACKS}/{stack_id}", headers=subuser)
        core = {"Authorization": f"Bearer {self.canary_client.sign_in()}"}
        self._expect(200, "GET", "/m/core/audit", headers=core)

    # ── refused requests ─────────────────────────────────────────────────────────────────────────

    def send_refused_requests(self, master: dict[str, str]) -> None:
        secret, word = self.canary_client.canaries.secret, self.canary_client.canaries.word
        provision = {"image": word("image"), secret("a name"): 1}
        invalid: tuple[dict[str, Any], ...] = (
            {"version": word("version")},
            {"vendor": {"aws": {"cred": [secret("cred in a list")], "region": word("region")}}},
            {"vendor": secret("cred as a vendor")},
            {"configurations": [{"flag": word("flag") + "!", "provision": provision}]},
            {"configurations": secret("a key as layers")},
            {"nickname": [word("nickname")]},
        )
        for changes in invalid:
            for form in template_forms(self.template(**changes)):
                arguments = form.arguments | {"headers": master | form.arguments.get("headers", {})}
                self._expect(400, "POST", TEMPLATES, **arguments)
        for kind in (JSON, FORM, "application/yaml", "multipart/form-data", "text/plain"):
            headers = master | {"Content-Type": kind}
            for body in self._unreadable_templates():
                self.canary_client.send("POST", TEMPLATES, content=body, headers=headers)
                self.canary_client.send(
                    "PUT", f"{TEMPLATES}/{word('id')}", content=body, headers=headers
                )
        for template in (secret("a body"), {"cred": [secret("cred")] * 2}, [secret("a list")]):
            named = {word("a stack"): {"version": word("a version")}}
            sent = {"id": [named], "body": [template]}
            self.canary_client.send("POST", f"{TEMPLATES}/compare", json=sent, headers=master)

    def _unreadable_templates(self) -> Iterator[bytes]:
        secret = self.canary_client.canaries.secret
        valid = json.dumps(self.template())
        yield valid[:-9].encode()
        yield valid.replace("false", "NaN").encode()
        yield valid.encode() + b"\xff"
        yield f"vendor: &{secret('an anchor')} {secret('a value')}\nb: *c\n".encode()
        yield f"cred: !!{secret('a tag')} {secret('cred')}\n".encode()
        yield f"body=%ff{secret('a form')}&body={secret('a form')}".encode()
        yield f"cred: {secret('cred')}\ncred: {secret('cred')}\n".encode()
        yield valid.replace("2026-11-15", "x" * 300_000).encode()

    # ── requests during database faults ──────────────────────────────────────────────────────────

    def send_during_faults(self, master: dict[str, str]) -> None:
        """Send requests while the database fails; no response may show a secret."""
        for form in template_forms(self.template()):
            arguments = form.arguments | {"headers": master | form.arguments.get("headers", {})}
            self.canary_client.send("POST", TEMPLATES, **arguments)
        self.canary_client.send("GET", f"{TEMPLATES}?stack_id=x", headers=master)
