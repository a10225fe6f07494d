"""No user gains permissions through a role, a mapping, a client, a password or a filter.

Named attempts, each with a token of either product, are refused and change no row. The same holds
for roles of version 3, for everybody but the root user. Then random changes among random users:
nobody gains a permission that the user who made the change does not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nimbill.foundation.product import Product
from tests.contract.superuser import Superuser, connect_superuser
from tests.identity.rbac.stored_groups import insert_groups
from tests.legacy.broken_variants import A3_VARIANTS  # version 3
from tests.proof.broken_variants import BrokenVariant
from tests.proof.legacy_escalation import list_escalation_attempts  # version 3
from tests.proof.random_grants import run_random_steps
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
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

Attempt = tuple[str, str, str, Any]  # description, method, path, body


@dataclass(frozen=True)
class EscalationCast:
    """A user who tries to gain permissions, and users to gain them from."""

    low_user: SubuserAccount  # has a few actions in both namespaces
    narrow: SubuserAccount  # the same, within one billing group
    nobody: SubuserAccount  # has no role
    admin: SubuserAccount
    narrow_admin: SubuserAccount
    auditor: SubuserAccount
    reader: SubuserAccount  # has what the low_user has, without a filter
    full: SubuserAccount  # has five roles
    foreigner: SubuserAccount
    foreign_root: str


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    with connect_superuser(service, environment.superuser) as database:
        tried, misses = _named_attempts(service, database)
        of_version_3, more = _legacy_attempts(service, database)  # version 3
        misses += more  # version 3
    misses += _check_admin_is_alone(service)
    accepted, gains = run_random_steps(service, environment.random("A3"), size)
    if accepted < size // 20:
        misses.append(f"only {accepted} of {size} random changes were accepted: too few")
    figures = (
        f"{tried} attempts, "
        f"{of_version_3} in version 3, "  # version 3
        f"{size} random changes of which {accepted} were accepted"
    )
    misses += gains
    return Measurement(f"{figures}: {len(misses)} wrong", misses)


def _named_attempts(service: Service, database: Superuser) -> tuple[int, list[str]]:
    cast, root = _create_cast(service), service.organisation.root_user_id
    organisation_id = service.organisation.organisation_id
    attempts_by_user = {
        "low_user": (cast.low_user, list(_attempts_by_low_user(cast, root))),
        "narrow": (cast.narrow, list(_attempts_by_restricted_user(cast))),
        "nobody": (cast.nobody, list(_attempts_by_user_without_role(cast, root))),
    }
    tried, misses = 0, []
    before = database.digest(organisation_id)
    for who, (person, attempts) in attempts_by_user.items():
        for what, method, path, body in attempts:
            for product in (Product.core, Product.portal):
                tried += 1
                sent = {} if body is None else {"json": body}
                answer = service.http.request(method, path, headers=person.headers(product), **sent)
                if answer.status_code not in DENIED:
                    misses.append(f"{who} with a {product} token: {what} ({answer.status_code})")
    if database.digest(organisation_id) != before:
        misses.append("rows changed although every attempt was refused")
    return tried, misses


def _legacy_attempts(service: Service, database: Superuser) -> tuple[int, list[str]]:  # version 3
    """Every role operation of version 3 by everybody but the root user."""
    service.organisation = service.new_organisation()
    headers, calls = list_escalation_attempts(service)
    tried, misses = 0, []
    before = database.digest(service.organisation.organisation_id)
    for who, shown in headers.items():
        for what, method, path, sent in calls:
            tried += 1
            answer = service.http.request(method, path, headers=shown, **sent)
            if answer.status_code not in (401, 403):
                misses.append(f"{who} {what} ({answer.status_code})")
    if database.digest(service.organisation.organisation_id) != before:
        misses.append("rows of version 3 changed although every attempt was refused")
    return tried, misses


def _create_cast(service: Service) -> EscalationCast:
    other = service.new_organisation()
    service.organisation = service.new_organisation()
    insert_groups(service, ["a", "b"])
    cast = EscalationCast(
        low_user=create_subuser(service, MAY_GRANT, MAY_GRANT),
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
        (cast.low_user, [("core", "in-use"), ("portal", "in-use")]),
        (cast.reader, [("core", "in-use")]),
        (cast.full, [("core", name) for name in SIX[:5]]),
    ):
        body = _mapping(*roles) | {"user_id": person.user_id}
        assert service.http.post(f"{RBAC}/userroles", json=body, headers=service.root()).is_success
    return cast


def _mapping(*roles: tuple[str, str], filters: list[str] | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "roles": [{"namespace": namespace, "role": name} for namespace, name in roles]
    }
    if filters is not None:
        rule = {"namespace": "core", "type": "billingGroup", "resource": filters}
        body["filters"] = [rule] if filters else []
    return body


def _attempts_by_low_user(cast: EscalationCast, root: str) -> Iterator[Attempt]:
    """By a user who may change roles, users and clients, and little else."""
    for namespace, permissions in (
        ("core", ["Admin"]),
        ("core", ["ReadInvoice", "Admin"]),
        ("core", [*MAY_GRANT, "ReadAudit"]),
        ("portal", ["Admin"]),
        ("portal", ["ReadTags"]),
    ):
        what = f"created a role of {namespace} that permits {', '.join(permissions)}"
        body = {"name": "wanted", "namespace": namespace, "permissions": permissions}
        yield what, "POST", f"{RBAC}/roles", body
        what = f"changed a role in use of {namespace} to permit {', '.join(permissions)}"
        yield what, "PATCH", f"{RBAC}/roles/{namespace}/in-use", {"permissions": permissions}
    for role in (("core", "admins"), ("portal", "admins"), ("core", "auditors")):
        for target, user_id in (
            ("itself", cast.low_user.user_id),
            ("another user", cast.nobody.user_id),
        ):
            what = f"mapped {role[1]} of {role[0]} to {target}"
            body = _mapping(role) | {"user_id": user_id}
            yield what, "POST", f"{RBAC}/userroles", body
            what = f"replaced the roles of {target} by {role[1]} of {role[0]}"
            yield what, "PATCH", f"{RBAC}/{user_id}/userroles", _mapping(role)
    body = _mapping(("core", SIX[5])) | {"user_id": cast.full.user_id}
    yield "mapped a sixth role", "POST", f"{RBAC}/userroles", body
    yield (
        "replaced five by six",
        "PATCH",
        f"{RBAC}/{cast.full.user_id}/userroles",
        _mapping(*(("core", name) for name in SIX)),
    )
    body = _mapping(filters=["b"]) | {"user_id": cast.narrow_admin.user_id}
    yield "widened the filters of an Admin", "POST", f"{RBAC}/userroles", body
    yield from _attempts_against_stronger_users(cast.admin, cast.narrow_admin, cast.auditor)
    for user in (root, "root", "ROOT"):
        yield "created a client for the root user", "POST", f"{USERS}/client/{user}", {"name": "x"}
    for old in ({}, {"old_password": PASSWORD}):
        body = {"password": "another one 123", **old}
        yield "changed the root user's password", "PUT", f"{USERS}/{root}/password", body
    yield "deleted the root user", "DELETE", f"{USERS}/{root}", None
    body = _mapping(("core", "in-use")) | {"user_id": root}
    yield "mapped a role to the root user", "POST", f"{RBAC}/userroles", body
    yield "replaced the root user's roles", "PATCH", f"{RBAC}/{root}/userroles", _mapping()
    yield from _attempts_across_organisations(cast)


def _attempts_against_stronger_users(*people: SubuserAccount) -> Iterator[Attempt]:
    """Each of these users has more permissions than the one who tries."""
    for person in people:
        for user in (person.user_id, person.username):
            what = "created a client for a user with more permissions"
            yield what, "POST", f"{USERS}/client/{user}", {"name": "x"}
        what, body = (
            "changed the password of a user with more permissions",
            {"password": "12345678"},
        )
        yield what, "PUT", f"{USERS}/{person.user_id}/password", body
        what = "deleted a user with more permissions"
        yield what, "DELETE", f"{USERS}/{person.user_id}", None


def _attempts_across_organisations(cast: EscalationCast) -> Iterator[Attempt]:
    """Against roles and users of another organisation."""
    theirs = f"role-{cast.foreigner.user_id[-12:]}"
    path = f"{RBAC}/roles/core/{theirs}"
    yield "renamed another organisation's role", "PATCH", path, {"name": "renamed"}
    yield "deleted another organisation's role", "DELETE", path, None
    body = _mapping(("core", theirs)) | {"user_id": cast.low_user.user_id}
    yield "mapped another organisation's role", "POST", f"{RBAC}/userroles", body
    for user in (cast.foreigner.user_id, cast.foreigner.username, cast.foreign_root):
        yield (
            "created a client in another organisation",
            "POST",
            f"{USERS}/client/{user}",
            {"name": "x"},
        )
    body = _mapping(("core", "in-use")) | {"user_id": cast.foreigner.user_id}
    yield "mapped a role in another organisation", "POST", f"{RBAC}/userroles", body
    body = {"password": "another one 123"}
    yield (
        "changed a password in another organisation",
        "PUT",
        f"{USERS}/{cast.foreigner.user_id}/password",
        body,
    )
    yield (
        "deleted a user in another organisation",
        "DELETE",
        f"{USERS}/{cast.foreigner.user_id}",
        None,
    )


def _attempts_by_restricted_user(cast: EscalationCast) -> Iterator[Attempt]:
    """By a user who is restricted to a billing group."""
    role = ("core", "in-use")
    for target, user_id in (("itself", cast.narrow.user_id), ("another user", cast.nobody.user_id)):
        for filters in (["b"], ["a", "b"]):
            what = f"mapped {target} beyond its own filters"
            body = _mapping(role, filters=filters) | {"user_id": user_id}
            yield what, "POST", f"{RBAC}/userroles", body
            what = f"replaced the filters of {target} by wider ones"
            body = _mapping(role, filters=filters)
            yield what, "PATCH", f"{RBAC}/{user_id}/userroles", body
        what = f"replaced the filters of {target} by none"
        yield what, "PATCH", f"{RBAC}/{user_id}/userroles", _mapping(role, filters=[])
    for role in (("core", "in-use"), ("portal", "in-use")):
        what = f"mapped a role of {role[0]} to a user without filters"
        body = _mapping(role) | {"user_id": cast.nobody.user_id}
        yield what, "POST", f"{RBAC}/userroles", body
    body = _mapping(filters=["b"]) | {"user_id": cast.narrow.user_id}
    yield "added a group to its own filters", "POST", f"{RBAC}/userroles", body
    what, body = "extended a role of users outside its filters", {"permissions": MAY_GRANT}
    yield what, "PATCH", f"{RBAC}/roles/core/in-use", body
    yield from _attempts_against_stronger_users(cast.reader, cast.low_user)


def _attempts_by_user_without_role(cast: EscalationCast, root: str) -> Iterator[Attempt]:
    """By a user without a role, on everything except its own records."""
    body = {"username": "wanted", "password": "12345678", "notification": {"email": "false"}}
    yield "created a subuser", "POST", USERS, body | {"kind": "root", "root_user": root}
    body = {"name": "wanted", "namespace": "core", "permissions": []}
    yield "created a role", "POST", f"{RBAC}/roles", body
    yield "changed a role", "PATCH", f"{RBAC}/roles/core/admins", {"name": "renamed"}
    yield "deleted a role", "DELETE", f"{RBAC}/roles/core/auditors", None
    body = _mapping(("core", "in-use")) | {"user_id": cast.nobody.user_id}
    yield "mapped a role", "POST", f"{RBAC}/userroles", body
    yield "replaced roles", "PATCH", f"{RBAC}/{cast.nobody.user_id}/userroles", _mapping()
    yield "read mappings", "GET", f"{RBAC}/{cast.admin.username}/userroles", None
    yield "read permissions", "GET", f"{RBAC}/{cast.admin.username}/permissions", None
    yield "read clients", "GET", f"{USERS}/clients/{cast.admin.username}", None
    path = f"{USERS}/client/{cast.nobody.user_id}/{cast.admin.client_id}"
    yield "deleted another user's client under its own id", "DELETE", path, None
    yield from _attempts_against_stronger_users(cast.admin, cast.low_user, cast.full)


def _check_admin_is_alone(service: Service) -> list[str]:
    mixed = ["ReadInvoice", "Admin", "ModifyInvoice"]
    body = {"name": "mixed-role", "namespace": "core", "permissions": mixed}
    created = service.http.post(f"{RBAC}/roles", json=body, headers=service.root())
    path = f"{RBAC}/roles/core/mixed-role"
    changed = service.http.patch(path, json={"permissions": mixed[::-1]}, headers=service.root())
    return [
        f"a list with Admin in it became {answer.text}"
        for answer in (created, changed)
        if answer.json().get("permissions") != ["Admin"]
    ]


VARIANTS = [
    BrokenVariant(
        "admin-with-others",
        "Other actions in a list with Admin are kept.",
        "a list with Admin in it became",
        "identity/rbac/role_rules.py",
        'return ["Admin"] if "Admin" in permissions else list',
        "return list",
    ),
    BrokenVariant(
        "any-role-mapped",
        "A caller who may map roles can map any role.",
        "mapped admins of core to itself",
        "identity/rbac/operations.py",
        "_refuse_roles_beyond_caller(caller_permissions, role_permissions, keys)",
        "",
    ),
    BrokenVariant(
        "credentials-of-stronger-user",
        "A caller can create a client or set a password for a user with more permissions.",
        "created a client for a user with more permissions",
        "identity/users/operations.py",
        "await load_user_permissions(db, caller.scope, user)",
        "caller_permissions",
    ),
    BrokenVariant(
        "filters-ignored",
        "A filtered caller can map roles and reset passwords of users without filters.",
        "widened the filters",
        "access/effective_permissions.py",
        "bool(filters.get(key)) and filters[key] <= own",
        "bool(filters.get(key)) or filters.get(key, own) <= own",
    ),
    BrokenVariant(
        "filters-widened",
        "Filters can be widened without checking the permissions of their user.",
        "widened the filters of an Admin",
        "identity/rbac/operations.py",
        "_refuse_wider_filters(caller_permissions, before, after)",
        "",
    ),
    BrokenVariant(
        "group-filter-lost-in-portal",
        "A filter on billing groups is ignored when a portal role is mapped.",
        "mapped a role of portal to a user without filters",
        "access/effective_permissions.py",
        "if key[0] == namespace or key == BILLING_GROUPS",
        "if key[0] == namespace",
    ),
    BrokenVariant(
        "role-of-hidden-users-changed",
        "A filtered caller can add permissions to a role of users outside the filter.",
        "extended a role of users outside its filters",
        "identity/rbac/operations.py",
        """if not before.includes(namespace, frozenset(permissions)):
            await _refuse_to_grant_beyond_filters(db, caller, caller_permissions, key)""",
        "_ = before",
    ),
    BrokenVariant(
        "role-with-any-permission",
        "A caller who may change roles can put any permission into a role.",
        "created a role of core that permits Admin",
        "identity/rbac/operations.py",
        """if not caller_permissions.includes(namespace, frozenset(permissions)):
        raise NotPermitted("grants_more", "You cannot grant permissions you do not have.")""",
        "_ = (caller_permissions, namespace, permissions)",
    ),
    BrokenVariant(
        "sixth-role",
        "Six roles can be mapped in a namespace.",
        "mapped a sixth role",
        "identity/rbac/role_rules.py",
        "ROLES_PER_NAMESPACE_MAX = 5",
        "ROLES_PER_NAMESPACE_MAX = 6",
    ),
    *A3_VARIANTS,  # version 3
]
