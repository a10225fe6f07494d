"""Users with random roles change each other's roles; each step is compared with an oracle.

A step must not give a user permissions that its caller lacks, and a caller who obtains credentials
of another must already have all of the other's permissions.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import httpx

from nimbill.access.effective_permissions import (
    ROOT,
    EffectivePermissions,
    load_effective_permissions,
)
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.product import Product
from tests.access.permission_oracle import (
    ACTIONS,
    NAMESPACES,
    RESOURCES,
    TYPES,
    list_possible_actions,
)
from tests.identity.rbac.stored_groups import insert_groups
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser

USERS, RBAC = "/m/u/users", "/m/auth/rbac"
USER_COUNT = 5
ROLES = [f"role-{number}" for number in range(5)]
GRANTABLE = ("Admin", *ACTIONS[:-1])
STEPS_PER_ORGANISATION = 25


@dataclass
class RandomOrganisation:
    """An organisation with few users and few roles, so that they interact often."""

    service: Service
    random: Random
    users: list[SubuserAccount]

    @property
    def root(self) -> dict[str, str]:
        return self.service.root()

    def load_permissions(self) -> dict[str, EffectivePermissions]:
        """The permissions of all users according to the tables."""
        organisation_id = self.service.organisation.organisation_id

        async def load() -> dict[str, EffectivePermissions]:
            async with transaction(self.service.resources.engine, organisation_id) as db:
                scope = TenantScope(organisation_id)
                return {
                    account.user_id: await load_effective_permissions(db, scope, account.user_id)
                    for account in self.users
                }

        return self.service.run(load) | {self.service.organisation.root_user_id: ROOT}


def new_random_organisation(service: Service, random: Random) -> RandomOrganisation:
    service.organisation = service.new_organisation()
    insert_groups(service, RESOURCES)
    users = [
        create_subuser(
            service,
            core=["ModifyRoles", *_some(random, GRANTABLE, 2)] if random.random() < 0.8 else None,
            portal=["ModifyRoles", *_some(random, GRANTABLE, 2)] if random.random() < 0.6 else None,
            filters=_filters(random, 0.4),
        )
        for _ in range(USER_COUNT)
    ]
    organisation = RandomOrganisation(service, random, users)
    for name in ROLES:
        for namespace in NAMESPACES:
            body = {
                "name": name,
                "namespace": namespace,
                "permissions": _some(random, GRANTABLE, 2),
            }
            service.http.post(f"{RBAC}/roles", json=body, headers=organisation.root)
    return organisation


def run_random_steps(service: Service, random: Random, steps: int) -> tuple[int, list[str]]:
    """Number of accepted steps, and each step that granted too much."""
    accepted, misses = 0, []
    organisation = new_random_organisation(service, random)
    for number in range(steps):
        if number % STEPS_PER_ORGANISATION == 0:
            organisation = new_random_organisation(service, random)
        caller, product = (
            random.choice(organisation.users),
            random.choice([Product.core, Product.portal]),
        )
        before = organisation.load_permissions()
        description, exposed_user, answer = _step(organisation, caller.headers(product))
        if answer.status_code >= 500:
            misses.append(f"{description}: {answer.status_code}")
        if not answer.is_success:
            continue
        accepted += 1
        callers_actions = list_possible_actions(before[caller.user_id])
        after = {
            user_id: now
            for user_id, now in organisation.load_permissions().items()
            if user_id in before
        }
        gains = [
            list_possible_actions(now) - list_possible_actions(before[user_id])
            for user_id, now in after.items()
        ]
        if any(gain - callers_actions for gain in gains):
            misses.append(f"{description} granted a user more than its caller has")
        if (
            exposed_user
            and exposed_user != caller.user_id
            and list_possible_actions(before[exposed_user]) - callers_actions
        ):
            misses.append(
                f"{description} gave its caller the credentials of a user with more permissions"
            )
    return accepted, misses


def _step(
    organisation: RandomOrganisation, headers: dict[str, str]
) -> tuple[str, str, httpx.Response]:
    """Any call that could grant something; returns the user whose credentials it reveals."""
    random, http = organisation.random, organisation.service.http
    user, role, namespace = _user(organisation), random.choice(ROLES), random.choice(NAMESPACES)
    mapping: dict[str, Any] = {
        "roles": [
            {"namespace": random.choice(NAMESPACES), "role": random.choice(ROLES)}
            for _ in range(random.choice([0, 1, 1, 2]))
        ]
    }
    if random.random() < 0.6:
        mapping["filters"] = [
            {"namespace": key, "type": type_, "resource": [resource]}
            for key, type_, resource in _filters(random, 0.7)
        ]
    granted = {"permissions": _some(random, GRANTABLE, 2)}
    match random.randrange(6):
        case 0 | 1:
            body = {"user_id": user, **mapping}
            return "mapping", "", http.post(f"{RBAC}/userroles", json=body, headers=headers)
        case 2:
            path = f"{RBAC}/{user}/userroles"
            return "replacing", "", http.patch(path, json=mapping, headers=headers)
        case 3:
            path = f"{RBAC}/roles/{namespace}/{role}"
            return "updating a role", "", http.patch(path, json=granted, headers=headers)
        case 4:
            path = f"{USERS}/client/{user}"
            return "a new client", user, http.post(path, json={"name": "x"}, headers=headers)
        case _:
            path, body = f"{USERS}/{user}/password", {"password": "another one 123"}
            answer = http.put(path, json=body, headers=headers)
            if answer.is_success:
                _replace_user(organisation, user)
            return "a new password", user, answer


def _replace_user(organisation: RandomOrganisation, user_id: str) -> None:
    """Replace a user whose tokens have ended."""
    organisation.users = [account for account in organisation.users if account.user_id != user_id]
    organisation.users.append(create_subuser(organisation.service, core=["ModifyRoles"]))


def _user(organisation: RandomOrganisation) -> str:
    user_ids = [account.user_id for account in organisation.users]
    return organisation.random.choice([*user_ids, organisation.service.organisation.root_user_id])


def _some(random: Random, words: tuple[str, ...], count_max: int) -> list[str]:
    return random.sample(words, random.randint(0, count_max))


def _filters(random: Random, likely: float) -> list[tuple[str, str, str]]:
    return [
        (*key, resource)
        for key in TYPES["portal"]
        if random.random() < likely
        for resource in random.sample(RESOURCES[:3], random.randint(1, 2))
    ]
