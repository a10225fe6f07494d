"""Nobody becomes more than he is: not by a role, a mapping, a client, a password or a filter.

Named attempts, each with a token of either product: refused, and not a row changed. The same for
the roles of version 3, by everybody who is not its master account. Then random changes among random
people: whatever anybody gains by a step, who took it could do himself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nimbill.foundation.vocabulary import Product
from tests.contract.superuser import Superuser, behind_the_walls
from tests.proof.legacy_climbers import climbers
from tests.proof.random_grants import walk
from tests.proof.row import Measurement
from tests.proof.stage import Stage
from tests.running_service import PASSWORD, Service
from tests.subusers import SubuserAccount, create_subuser

TARGET = "0 attempts succeed, 0 rows change; a list with Admin in it becomes Admin alone"
QUICK = 120  # random changes
FULL = 5_000
SECONDS_MAX = 240

USERS, RBAC = "/m/u/users", "/m/auth/rbac"
GROUP_A, GROUP_B = ("core", "billingGroup", "a"), ("core", "billingGroup", "b")
MAY_GRANT = ["ModifyRoles", "ModifyUsers", "ModifyApiClients", "ReadInvoice"]
SIX = [f"small-{number}" for number in range(6)]
DENIED = {400, 403, 404, 409}

Attempt = tuple[str, str, str, Any]  # what is tried, method, path, body


@dataclass(frozen=True)
class Town:
    """Somebody who wants more, and everybody he could get it from."""

    climber: SubuserAccount  # holds a few actions in both namespaces
    narrow: SubuserAccount  # the same, within one billing group
    nobody: SubuserAccount  # holds nothing
    admin: SubuserAccount
    narrow_admin: SubuserAccount
    auditor: SubuserAccount
    reader: SubuserAccount  # what the climber holds, with no filter
    full: SubuserAccount  # has five roles
    foreigner: SubuserAccount
    foreign_root: str


def measure(stage: Stage, size: int) -> Measurement:
    service = stage.service
    with behind_the_walls(service, stage.superuser) as behind:
        tried, misses = _named_attempts(service, behind)
        of_version_3, more = _legacy_attempts(service, behind)
        misses += more
    misses += _admin_stands_alone(service)
    passed, gains = walk(service, stage.random("A3"), size)
    if passed < size // 20:
        misses.append(f"only {passed} of {size} random changes were let through: no test of much")
    said = (
        f"{tried} attempts, {of_version_3} in version 3, {size} random changes of which {passed} "
        "were let through"
    )
    misses += gains
    return Measurement(f"{said}: {len(misses)} gained something", misses)


def _named_attempts(service: Service, behind: Superuser) -> tuple[int, list[str]]:
    town, root = _new_town(service), service.organisation.root_user_id
    organisation_id = service.organisation.organisation_id
    climbers = {
        "climber": (town.climber, list(_by_climber(town, root))),
        "narrow": (town.narrow, list(_by_narrow(town))),
        "nobody": (town.nobody, list(_by_nobody(town, root))),
    }
    tried, misses = 0, []
    before = behind.digest(organisation_id)
    for who, (person, attempts) in climbers.items():
        for what, method, path, body in attempts:
            for product in (Product.core, Product.portal):
                tried += 1
                sent = {} if body is None else {"json": body}
                answer = service.http.request(method, path, headers=person.headers(product), **sent)
                if answer.status_code not in DENIED:
                    misses.append(f"{who} with a {product} token: {what} ({answer.status_code})")
    if behind.digest(organisation_id) != before:
        misses.append("rows changed though every attempt was refused")
    return tried, misses


def _legacy_attempts(service: Service, behind: Superuser) -> tuple[int, list[str]]:
    """Every role operation of version 3 by everybody but the master account."""
    service.organisation = service.new_organisation()
    headers, calls = climbers(service)
    tried, misses = 0, []
    before = behind.digest(service.organisation.organisation_id)
    for who, shown in headers.items():
        for what, method, path, sent in calls:
            tried += 1
            answer = service.http.request(method, path, headers=shown, **sent)
            if answer.status_code not in (401, 403):
                misses.append(f"{who} {what} ({answer.status_code})")
    if behind.digest(service.organisation.organisation_id) != before:
        misses.append("rows of version 3 changed though every attempt was refused")
    return tried, misses


def _new_town(service: Service) -> Town:
    other = service.new_organisation()
    service.organisation = service.new_organisation()
    town = Town(
        climber=create_subuser(service, MAY_GRANT, MAY_GRANT),
        narrow=create_subuser(service, MAY_GRANT, MAY_GRANT, [GROUP_A]),
        nobody=create_subuser(service),
        admin=create_subuser(service, ["Admin"], ["Admin"]),
        narrow_admin=create_subuser(service, ["Admin"], None, [GROUP_A]),
        auditor=create_subuser(service, ["ReadAudit"]),
        reader=create_subuser(service, ["ReadInvoice"]),
        full=create_subuser(service),
        foreigner=create_subuser(service, ["Admin"], organisation=other),
        foreign_root=other.root_user_id,
    )
    for name, namespace, permissions in (
        ("admins", "core", ["Admin"]),
        ("admins", "portal", ["Admin"]),
        ("auditors", "core", ["ReadAudit"]),
        ("in-use", "core", ["ReadInvoice"]),
        ("in-use", "portal", ["ReadInvoice"]),
        *((name, "core", ["ReadInvoice"]) for name in SIX),
    ):
        body = {"name": name, "namespace": namespace, "permissions": permissions}
        assert service.http.post(f"{RBAC}/roles", json=body, headers=service.root()).is_success
    for person, roles in (
        (town.climber, [("core", "in-use"), ("portal", "in-use")]),
        (town.reader, [("core", "in-use")]),
        (town.full, [("core", name) for name in SIX[:5]]),
    ):
        body = _mapping(*roles) | {"user_id": person.user_id}
        assert service.http.post(f"{RBAC}/userroles", json=body, headers=service.root()).is_success
    return town


def _mapping(*roles: tuple[str, str], filters: list[str] | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"roles": [{"namespace": one, "role": name} for one, name in roles]}
    if filters is not None:
        rule = {"namespace": "core", "type": "billingGroup", "resource": filters}
        body["filters"] = [rule] if filters else []
    return body


def _by_climber(town: Town, root: str) -> Iterator[Attempt]:
    """Who may change roles, users and clients, and holds little else."""
    for namespace, permissions in (
        ("core", ["Admin"]),
        ("core", ["ReadInvoice", "Admin"]),
        ("core", [*MAY_GRANT, "ReadAudit"]),
        ("portal", ["Admin"]),
        ("portal", ["ReadTags"]),
    ):
        what = f"made a role of {namespace} that permits {', '.join(permissions)}"
        body = {"name": "wanted", "namespace": namespace, "permissions": permissions}
        yield what, "POST", f"{RBAC}/roles", body
        what = f"made a role in use of {namespace} permit {', '.join(permissions)}"
        yield what, "PATCH", f"{RBAC}/roles/{namespace}/in-use", {"permissions": permissions}
    for role in (("core", "admins"), ("portal", "admins"), ("core", "auditors")):
        for whom, user_id in (("himself", town.climber.user_id), ("another", town.nobody.user_id)):
            what = f"mapped {role[1]} of {role[0]} to {whom}"
            body = _mapping(role) | {"user_id": user_id}
            yield what, "POST", f"{RBAC}/userroles", body
            what = f"replaced the roles of {whom} by {role[1]} of {role[0]}"
            yield what, "PATCH", f"{RBAC}/{user_id}/userroles", _mapping(role)
    body = _mapping(("core", SIX[5])) | {"user_id": town.full.user_id}
    yield "mapped a sixth role", "POST", f"{RBAC}/userroles", body
    yield (
        "replaced five by six",
        "PATCH",
        f"{RBAC}/{town.full.user_id}/userroles",
        _mapping(*(("core", name) for name in SIX)),
    )
    body = _mapping(filters=["b"]) | {"user_id": town.narrow_admin.user_id}
    yield "widened the filters of an Admin", "POST", f"{RBAC}/userroles", body
    yield from _over_others(town.admin, town.narrow_admin, town.auditor)
    for user in (root, "root", "ROOT"):
        yield "made a client for the root user", "POST", f"{USERS}/client/{user}", {"name": "x"}
    for old in ({}, {"old_password": PASSWORD}):
        body = {"password": "another one 123", **old}
        yield "changed the root user's password", "PUT", f"{USERS}/{root}/password", body
    yield "deleted the root user", "DELETE", f"{USERS}/{root}", None
    body = _mapping(("core", "in-use")) | {"user_id": root}
    yield "mapped a role to the root user", "POST", f"{RBAC}/userroles", body
    yield "replaced the root user's roles", "PATCH", f"{RBAC}/{root}/userroles", _mapping()
    yield from _abroad(town)


def _over_others(*people: SubuserAccount) -> Iterator[Attempt]:
    """Each of these may do more than who tries."""
    for person in people:
        for user in (person.user_id, person.username):
            what = "made a client for somebody who may do more"
            yield what, "POST", f"{USERS}/client/{user}", {"name": "x"}
        what, body = "changed the password of somebody who may do more", {"password": "12345678"}
        yield what, "PUT", f"{USERS}/{person.user_id}/password", body
        what = "deleted somebody who may do more"
        yield what, "DELETE", f"{USERS}/{person.user_id}", None


def _abroad(town: Town) -> Iterator[Attempt]:
    """Roles and people of another organisation."""
    theirs = f"role-{town.foreigner.user_id[-12:]}"
    path = f"{RBAC}/roles/core/{theirs}"
    yield "renamed another organisation's role", "PATCH", path, {"name": "renamed"}
    yield "deleted another organisation's role", "DELETE", path, None
    body = _mapping(("core", theirs)) | {"user_id": town.climber.user_id}
    yield "mapped another organisation's role", "POST", f"{RBAC}/userroles", body
    for user in (town.foreigner.user_id, town.foreigner.username, town.foreign_root):
        yield "made a client abroad", "POST", f"{USERS}/client/{user}", {"name": "x"}
    body = _mapping(("core", "in-use")) | {"user_id": town.foreigner.user_id}
    yield "mapped a role abroad", "POST", f"{RBAC}/userroles", body
    body = {"password": "another one 123"}
    yield "changed a password abroad", "PUT", f"{USERS}/{town.foreigner.user_id}/password", body
    yield "deleted a user abroad", "DELETE", f"{USERS}/{town.foreigner.user_id}", None


def _by_narrow(town: Town) -> Iterator[Attempt]:
    """Who is filtered and wants to see more."""
    role = ("core", "in-use")
    for whom, user_id in (("himself", town.narrow.user_id), ("another", town.nobody.user_id)):
        for filters in (["b"], ["a", "b"]):
            what = f"mapped {whom} beyond his own filters"
            body = _mapping(role, filters=filters) | {"user_id": user_id}
            yield what, "POST", f"{RBAC}/userroles", body
            what = f"replaced the filters of {whom} by wider ones"
            body = _mapping(role, filters=filters)
            yield what, "PATCH", f"{RBAC}/{user_id}/userroles", body
        what = f"replaced the filters of {whom} by none"
        yield what, "PATCH", f"{RBAC}/{user_id}/userroles", _mapping(role, filters=[])
    for role in (("core", "in-use"), ("portal", "in-use")):
        what = f"mapped a role of {role[0]} to somebody without filters"
        body = _mapping(role) | {"user_id": town.nobody.user_id}
        yield what, "POST", f"{RBAC}/userroles", body
    body = _mapping(filters=["b"]) | {"user_id": town.narrow.user_id}
    yield "added a group to his own filters", "POST", f"{RBAC}/userroles", body
    what, body = "made a role permit more to those outside", {"permissions": MAY_GRANT}
    yield what, "PATCH", f"{RBAC}/roles/core/in-use", body
    yield from _over_others(town.reader, town.climber)


def _by_nobody(town: Town, root: str) -> Iterator[Attempt]:
    """Who holds nothing and tries every door, his own excepted."""
    body = {"username": "wanted", "password": "12345678", "notification": {"email": "false"}}
    yield "made a subuser", "POST", USERS, body | {"kind": "root", "root_user": root}
    body = {"name": "wanted", "namespace": "core", "permissions": []}
    yield "made a role", "POST", f"{RBAC}/roles", body
    yield "changed a role", "PATCH", f"{RBAC}/roles/core/admins", {"name": "renamed"}
    yield "deleted a role", "DELETE", f"{RBAC}/roles/core/auditors", None
    body = _mapping(("core", "in-use")) | {"user_id": town.nobody.user_id}
    yield "mapped a role", "POST", f"{RBAC}/userroles", body
    yield "replaced roles", "PATCH", f"{RBAC}/{town.nobody.user_id}/userroles", _mapping()
    yield "saw mappings", "GET", f"{RBAC}/{town.admin.username}/userroles", None
    yield "saw permissions", "GET", f"{RBAC}/{town.admin.username}/permissions", None
    yield "saw clients", "GET", f"{USERS}/clients/{town.admin.username}", None
    path = f"{USERS}/client/{town.nobody.user_id}/{town.admin.client_id}"
    yield "deleted another's client by his own name", "DELETE", path, None
    yield from _over_others(town.admin, town.climber, town.full)


def _admin_stands_alone(service: Service) -> list[str]:
    mixed = ["ReadInvoice", "Admin", "ModifyInvoice"]
    body = {"name": "mixed-role", "namespace": "core", "permissions": mixed}
    made = service.http.post(f"{RBAC}/roles", json=body, headers=service.root())
    path = f"{RBAC}/roles/core/mixed-role"
    changed = service.http.patch(path, json={"permissions": mixed[::-1]}, headers=service.root())
    return [
        f"a list with Admin in it became {answer.text}"
        for answer in (made, changed)
        if answer.json().get("permissions") != ["Admin"]
    ]
