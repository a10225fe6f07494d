"""A revoked right is gone with the next request, in every process.

Two servers share a database. In core, in the portal and in version 3, a client, user, password,
mapping, role, permission, session, view or stack ends at one of them; requests that start after its
200, at both servers, must see it ended. A renamed role must keep working. The right of an agent
ends when its stack is gone, not already when the deletion begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import httpx

from tests.legacy import revocations as legacy_ends  # version 3
from tests.legacy.broken_variants import T3_VARIANTS  # version 3
from tests.proof import revocations as ends
from tests.proof.broken_variants import BrokenVariant
from tests.proof.revocable_rights import Right, RightsMaker
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.server_pair import ServerPair, server_pair

TARGET = (
    "10,000 trials in 2 processes, in core, portal and version 3: 0 requests accepted that start "
    "after the 200 of what ended their right"
)
FULL = 10_000
SECONDS_MAX = 180

AT_ONCE = 4


@dataclass(frozen=True)
class Revocation:
    area: str
    what: str
    make: Callable[[RightsMaker], Right]
    end: ends.End
    after: int  # status from then on; 0: as before
    by_root: bool = False  # the root user ends it with a token of core, not the owner of the right


@dataclass
class RevocationTrials:
    rights: RightsMaker
    servers: list[httpx.Client]
    ended: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    misses: list[str] = field(default_factory=list)

    def request_both(self, right: Right) -> list[int]:
        """Send two requests to each server, which may have cached the first result."""
        self.requests += 4
        method = "GET" if right.form is None else "POST"
        return [
            server.request(method, right.path, data=right.form, headers=right.headers).status_code
            for server in (*self.servers, *self.servers)
        ]


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("T3")
    with server_pair(environment) as pair, _clients(pair) as servers:
        trials = RevocationTrials(RightsMaker(service), servers)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for _ in threads.map(partial(_run_trial, trials), range(size)):
                pass
    areas = ", ".join(f"{count} {area}" for area, count in sorted(trials.ended.items()))
    figures = (
        f"{size} trials of {len(REVOCATIONS)} kinds ({areas}), {trials.requests} requests: "
        f"{len(trials.misses)} wrong"
    )
    return Measurement(figures, trials.misses)


@contextmanager
def _clients(pair: ServerPair) -> Iterator[list[httpx.Client]]:
    first, second = pair.urls
    with (
        httpx.Client(base_url=first, timeout=60, trust_env=False) as first_client,
        httpx.Client(base_url=second, timeout=60, trust_env=False) as second_client,
    ):
        yield [first_client, second_client]


def _run_trial(trials: RevocationTrials, number: int) -> None:
    revocation = REVOCATIONS[number % len(REVOCATIONS)]
    what, right = f"{revocation.area}, {revocation.what}", revocation.make(trials.rights)
    before = trials.request_both(right)
    client = trials.servers[(number + number // len(REVOCATIONS)) % 2]
    owner = trials.rights.service.root() if revocation.by_root else right.owner
    done = revocation.end(client, right, owner)
    after = trials.request_both(right)
    trials.ended[revocation.area] += 1
    if set(before) != {right.accepted} or done.status_code != 200:
        trials.misses.append(f"{what}: before {before}, ending it {done.status_code} {done.text}")
    if set(after) != {revocation.after or right.accepted}:
        trials.misses.append(f"{what}: accepted after it ended, answered {after}")


SAME = 0
Make = Callable[[RightsMaker], Right]


def _of_roles(area: str, make: Make) -> list[Revocation]:
    """What ends the rights of a subuser with a role and an API client."""
    return [
        Revocation(area, "client deleted", make, ends.delete_client, 401),
        Revocation(area, "user deleted", make, ends.delete_user, 401),
        Revocation(area, "role unmapped", make, ends.unmap_role, 403),
        Revocation(area, "role deleted", make, ends.delete_role, 403),
        Revocation(area, "permission removed", make, ends.narrow_role, 403),
        Revocation(area, "role renamed", make, ends.rename_role, SAME),
        Revocation(area, "password changed", make, ends.change_password, 401),
    ]


def _of_version_3(area: str, make: Make) -> list[Revocation]:  # version 3
    return [
        Revocation(area, "client deleted", make, ends.delete_client, 401, by_root=True),
        Revocation(area, "user deleted", make, ends.delete_user, 401, by_root=True),
        Revocation(area, "password changed", make, ends.change_password, 401, by_root=True),
        Revocation(area, "role detached", make, legacy_ends.detach_legacy_role, 403),
        Revocation(area, "role replaced", make, legacy_ends.replace_legacy_role, 403),
        Revocation(area, "role deleted", make, legacy_ends.delete_legacy_role, 403),
        Revocation(area, "scope narrowed", make, legacy_ends.narrow_legacy_role, 403),
        Revocation(area, "role renamed", make, legacy_ends.rename_legacy_role, SAME),
    ]


R = RightsMaker
CORE, STAFF, CUSTOMER, VIEW = "core", "staff in the portal", "customers", "views"
CUSTOMERS_USER = "customers' users"
LEGACY, AGENT = "version 3", "agents"  # version 3
REVOCATIONS = [
    *_of_roles(CORE, R.core_client),
    Revocation(CORE, "session ended", R.core_session, ends.sign_out, 401),
    *_of_roles(STAFF, R.staff_in_portal),
    *_of_roles(CUSTOMERS_USER, R.customers_user),
    Revocation(
        CUSTOMERS_USER, "account deleted", R.customers_user, ends.delete_customer, 401, True
    ),
    Revocation(CUSTOMERS_USER, "flag off", R.customers_user, ends.turn_flag_off, 403, True),
    Revocation(CUSTOMER, "account deleted", R.customer, ends.delete_customer, 401),
    Revocation(CUSTOMER, "password changed", R.customer, ends.change_customers_password, 401),
    Revocation(CUSTOMER, "flag off", R.customer, ends.turn_flag_off, 403),
    Revocation(CUSTOMER, "session ended", R.customer_session, ends.sign_out, 401),
    Revocation(VIEW, "view ended", R.staff_view, ends.end_view, 401),
    Revocation(VIEW, "account deleted", R.staff_view, ends.delete_customer, 401),
    Revocation(VIEW, "viewer deleted", R.staff_view, ends.delete_user, 401),
    Revocation(VIEW, "role unmapped", R.staff_view, ends.unmap_role, 401),
    Revocation(VIEW, "client deleted", R.staff_view, ends.delete_client, 401),
    *_of_version_3(LEGACY, R.legacy_user),  # version 3
    *_of_version_3(AGENT, R.client_as_agent),  # version 3
    Revocation(AGENT, "stack deleted", R.agent, legacy_ends.delete_stack, 401),  # version 3
]
QUICK = len(REVOCATIONS)


VARIANTS = [
    BrokenVariant(
        "caller-cached",
        "A caller is cached and not looked up again.",
        "accepted after it ended",
        "access/credentials.py",
        "async def load_caller(",
        """_remembered: dict[Claims, Caller] = {}


async def load_caller(db: AsyncConnection, claims: Claims) -> Caller | None:
    from nimbill.database.tenant_scope import set_tenant

    if claims in _remembered:
        await set_tenant(db, claims.organisation_id)
        return _remembered[claims]
    caller = await _load_caller(db, claims)
    if caller is not None:
        _remembered[claims] = caller
    return caller


async def _load_caller(""",
    ),
    BrokenVariant(
        "password-change-ignored",
        "Tokens from before a password change stay valid.",
        "password changed: accepted after it ended",
        "access/credentials.py",
        "if credential_epoch != claims.epoch:",
        "if False:",
    ),
    BrokenVariant(
        "portal-caller-cached",
        "A caller of the portal is cached and not looked up again.",
        "staff in the portal,",
        "access/credentials.py",
        "async def load_caller(",
        """_remembered: dict[Claims, Caller] = {}


async def load_caller(db: AsyncConnection, claims: Claims) -> Caller | None:
    from nimbill.database.tenant_scope import set_tenant

    if claims in _remembered:
        await set_tenant(db, claims.organisation_id)
        return _remembered[claims]
    caller = await _load_caller(db, claims)
    if caller is not None and claims.product == Product.portal:
        _remembered[claims] = caller
    return caller


async def _load_caller(""",
    ),
    *T3_VARIANTS,  # version 3
]
