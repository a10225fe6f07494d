"""A revoked right is gone with the next request, in every process.

Two servers share a database. A client, user, password, mapping, role, permission or session ends at
one of them; requests that start after its 200, at both servers, must see it ended. A renamed role
must keep working.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import httpx

from nimbill.access.role_actions import RoleAction
from tests.proof.real_server import real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import PASSWORD
from tests.subusers import SubuserAccount, create_subuser

TARGET = (
    "10,000 trials in 2 processes: 0 requests accepted that start after the 200 of what ended "
    "their right"
)
QUICK = 100
FULL = 10_000
SECONDS_MAX = 180
MISSING = ("version 3, agents and the portal",)

PATH = "/m/core/billinggroup"
AT_ONCE = 4


@dataclass
class RevocationTrials:
    environment: RowEnvironment
    servers: list[httpx.Client]
    root: dict[str, str]
    ended: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    misses: list[str] = field(default_factory=list)

    def request_both(self, headers: dict[str, str]) -> list[int]:
        """Send two requests to each server, which may have cached the first result."""
        self.requests += 4
        return [s.get(PATH, headers=headers).status_code for s in (*self.servers, *self.servers)]


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("T3")
    with _two_servers(environment) as servers:
        trials = RevocationTrials(environment, servers, service.root())
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for _ in threads.map(partial(_run_trial, trials), range(size)):
                pass
    kinds = ", ".join(f"{count} {what}" for what, count in sorted(trials.ended.items()))
    figures = f"{size} trials ({kinds}), {trials.requests} requests: {len(trials.misses)} wrong"
    return Measurement(figures, trials.misses)


@contextmanager
def _two_servers(environment: RowEnvironment) -> Iterator[list[httpx.Client]]:
    settings = {
        "NIMBILL_DATABASE_URL": environment.postgres.url,
        "NIMBILL_KEY_FILE": str(environment.service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "0",
    }
    with (
        real_server(environment.new_folder("t3") / "data", settings, workers=1) as first,
        real_server(environment.new_folder("t3") / "data", settings, workers=1) as second,
        httpx.Client(base_url=first.url, timeout=60, trust_env=False) as first_client,
        httpx.Client(base_url=second.url, timeout=60, trust_env=False) as second_client,
    ):
        yield [first_client, second_client]


def _run_trial(trials: RevocationTrials, number: int) -> None:
    what, end, after = ENDS[number % len(ENDS)]
    user = create_subuser(trials.environment.service, core=[RoleAction.ReadBillingGroup])
    headers = user.core if what != "session ended" else _sign_in(trials)
    before = trials.request_both(headers)
    client = trials.servers[number // len(ENDS) % 2]
    done = end(trials, client, user, headers)
    statuses = trials.request_both(headers)
    trials.ended[what] += 1
    if set(before) != {200} or done.status_code != 200:
        trials.misses.append(f"{what}: before {before}, ending it {done.status_code} {done.text}")
    if set(statuses) != {after}:
        trials.misses.append(f"{what}: accepted after it ended, answered {statuses}")


End = Callable[[RevocationTrials, httpx.Client, SubuserAccount, dict[str, str]], httpx.Response]


def _role(user: SubuserAccount) -> str:
    return f"/m/auth/rbac/roles/core/role-{user.user_id[-12:]}"


def _delete_client(
    t: RevocationTrials, client: httpx.Client, p: SubuserAccount, _: dict[str, str]
) -> httpx.Response:
    return client.delete(f"/m/u/users/client/{p.user_id}/{p.client_id}", headers=t.root)


def _delete_user(
    t: RevocationTrials, client: httpx.Client, p: SubuserAccount, _: dict[str, str]
) -> httpx.Response:
    return client.delete(f"/m/u/users/{p.user_id}", headers=t.root)


def _change_password(
    t: RevocationTrials, client: httpx.Client, p: SubuserAccount, _: dict[str, str]
) -> httpx.Response:
    return client.put(
        f"/m/u/users/{p.user_id}/password", json={"password": "another 77"}, headers=t.root
    )


def _unmap(
    t: RevocationTrials, client: httpx.Client, p: SubuserAccount, _: dict[str, str]
) -> httpx.Response:
    return client.patch(f"/m/auth/rbac/{p.user_id}/userroles", json={"roles": []}, headers=t.root)


def _delete_role(
    t: RevocationTrials, client: httpx.Client, p: SubuserAccount, _: dict[str, str]
) -> httpx.Response:
    return client.delete(_role(p), headers=t.root)


def _narrow_role(
    t: RevocationTrials, client: httpx.Client, p: SubuserAccount, _: dict[str, str]
) -> httpx.Response:
    return client.patch(_role(p), json={"permissions": ["ReadUsers"]}, headers=t.root)


def _rename_role(
    t: RevocationTrials, client: httpx.Client, p: SubuserAccount, _: dict[str, str]
) -> httpx.Response:
    return client.patch(_role(p), json={"name": f"name-{p.user_id[-12:]}"}, headers=t.root)


def _sign_out(
    _: RevocationTrials, client: httpx.Client, __: SubuserAccount, headers: dict[str, str]
) -> httpx.Response:
    return client.delete("/core/session", headers=headers)


def _sign_in(trials: RevocationTrials) -> dict[str, str]:
    """A console session of its own root user, so that no other trial signs it out."""
    service = trials.environment.service
    organisation = service.new_organisation("T3 session")
    body = {"organisation": organisation.organisation_id, "username": "root", "password": PASSWORD}
    answer = trials.servers[0].post("/core/session", json=body)
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


# what ends, how, and the response from then on
ENDS: tuple[tuple[str, End, int], ...] = (
    ("client deleted", _delete_client, 401),
    ("user deleted", _delete_user, 401),
    ("role unmapped", _unmap, 403),
    ("role deleted", _delete_role, 403),
    ("permission removed", _narrow_role, 403),
    ("role renamed", _rename_role, 200),
    ("password changed", _change_password, 401),
    ("session ended", _sign_out, 401),
)
