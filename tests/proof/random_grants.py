"""People with random roles who change each other's at random; each step is held against an oracle.

Whatever somebody can do after a step that he could not do before, the one who took the step could
do himself; and whoever gets the credentials of another could do all that the other can.
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
from tests.access.everything_doable import ACTIONS, NAMESPACES, RESOURCES, TYPES, doable
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser

USERS, RBAC = "/m/u/users", "/m/auth/rbac"
PEOPLE = 5
ROLES = [f"role-{number}" for number in range(5)]
HELD = ("Admin", *ACTIONS[:-1])
STEPS_IN_A_WORLD = 25


@dataclass
class World:
    """An organisation of few people and few roles, so that they meet often."""

    service: Service
    random: Random
    people: list[SubuserAccount]

    @property
    def root(self) -> dict[str, str]:
        return self.service.root()

    def held(self) -> dict[str, EffectivePermissions]:
        """What everybody holds, as the tables have it."""
        organisation_id = self.service.organisation.organisation_id

        async def ask() -> dict[str, EffectivePermissions]:
            async with transaction(self.service.resources.engine, organisation_id) as db:
                scope = TenantScope(organisation_id)
                return {
                    person.user_id: await load_effective_permissions(db, scope, person.user_id)
                    for person in self.people
                }

        return self.service.run(ask) | {self.service.organisation.root_user_id: ROOT}


def new_world(service: Service, random: Random) -> World:
    service.organisation = service.new_organisation()
    people = [
        create_subuser(
            service,
            core=["ModifyRoles", *_some(random, HELD, 2)] if random.random() < 0.8 else None,
            portal=["ModifyRoles", *_some(random, HELD, 2)] if random.random() < 0.6 else None,
            filters=_filters(random, 0.4),
        )
        for _ in range(PEOPLE)
    ]
    world = World(service, random, people)
    for name in ROLES:
        for namespace in NAMESPACES:
            body = {"name": name, "namespace": namespace, "permissions": _some(random, HELD, 2)}
            service.http.post(f"{RBAC}/roles", json=body, headers=world.root)
    return world


def walk(service: Service, random: Random, steps: int) -> tuple[int, list[str]]:
    """How many steps were let through, and each that gave somebody more than it may."""
    passed, misses = 0, []
    world = new_world(service, random)
    for number in range(steps):
        if number % STEPS_IN_A_WORLD == 0:
            world = new_world(service, random)
        walker, product = random.choice(world.people), random.choice([Product.core, Product.portal])
        before = world.held()
        did, taken, answer = _step(world, walker.headers(product))
        if answer.status_code >= 500:
            misses.append(f"{did}: {answer.status_code}")
        if not answer.is_success:
            continue
        passed += 1
        mine = doable(before[walker.user_id])
        after = {who: now for who, now in world.held().items() if who in before}
        gains = [doable(now) - doable(before[who]) for who, now in after.items()]
        if any(gain - mine for gain in gains):
            misses.append(f"{did} gave somebody more than its caller holds")
        if taken and taken != walker.user_id and doable(before[taken]) - mine:
            misses.append(f"{did} gave its caller the credentials of somebody who may do more")
    return passed, misses


def _step(world: World, headers: dict[str, str]) -> tuple[str, str, httpx.Response]:
    """Any call that could grant something; of which user it gives away the credentials."""
    random, http = world.random, world.service.http
    user, role, namespace = _user(world), random.choice(ROLES), random.choice(NAMESPACES)
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
    granted = {"permissions": _some(random, HELD, 2)}
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
                _forget(world, user)
            return "a new password", user, answer


def _forget(world: World, user_id: str) -> None:
    """Whose tokens have ended is out of the game; another takes his place."""
    world.people = [person for person in world.people if person.user_id != user_id]
    world.people.append(create_subuser(world.service, core=["ModifyRoles"]))


def _user(world: World) -> str:
    everybody = [person.user_id for person in world.people]
    return world.random.choice([*everybody, world.service.organisation.root_user_id])


def _some(random: Random, words: tuple[str, ...], count_max: int) -> list[str]:
    return random.sample(words, random.randint(0, count_max))


def _filters(random: Random, likely: float) -> list[tuple[str, str, str]]:
    return [
        (*key, resource)
        for key in TYPES["portal"]
        if random.random() < likely
        for resource in random.sample(RESOURCES[:3], random.randint(1, 2))
    ]
