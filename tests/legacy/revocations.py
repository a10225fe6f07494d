"""Requests that end a right in version 3."""

from __future__ import annotations

import time

import httpx

from tests.legacy.roles.role_requests import build_document, build_statement
from tests.proof.revocable_rights import STACKS, Right
from tests.proof.revocations import Headers

DELETION_SECONDS_MAX = 60  # watchdog; a job deletes the stack
NOTHING = build_document(build_statement("Deny"))


def detach_legacy_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    named = {"username": right.username}
    return http.delete(f"/v3/user/role/{right.role}", params=named, headers=owner)


def replace_legacy_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    form = {"name": "nothing", "scope": NOTHING}
    other = http.post("/v3/role", data=form, headers=owner).json()["role_id"]
    named = {"username": right.username}
    return http.put(f"/v3/user/role/{other}", data=named, headers=owner)


def delete_legacy_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    return http.delete(f"/v3/role/{right.role}", headers=owner)


def narrow_legacy_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    form = {"name": "narrowed", "scope": NOTHING}
    return http.put(f"/v3/role/{right.role}", data=form, headers=owner)


def rename_legacy_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    roles = http.get(f"/v3/user/{right.username}/role", headers=owner).json()
    (scope,) = [role["scope"] for role in roles if role["role_id"] == right.role]
    form = {"name": "renamed", "scope": scope}
    return http.put(f"/v3/role/{right.role}", data=form, headers=owner)


def delete_stack(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    """Delete the stack and wait until it is gone: until then its agent may report."""
    assert right.form is not None
    path = f"{STACKS}/{right.form['stack_id']}"
    deletion = http.delete(path, headers=owner)
    until = time.monotonic() + DELETION_SECONDS_MAX
    while time.monotonic() < until:
        described = http.get(path, headers=owner)
        if described.json().get("stack_status") == "DELETE_COMPLETE":
            return deletion
        time.sleep(0.02)
    return described
