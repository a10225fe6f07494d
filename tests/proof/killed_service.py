"""A service whose workers are killed, with two organisations of which one is disturbed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from nimbill.application.open_database import prepare_database
from nimbill.database.embedded_postgres import Address, embedded_postgres, superuser_address
from nimbill.database.tenant_scope import create_app_engine
from nimbill.foundation.encryption import load_or_create_key
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation
from tests.legacy.provisioning.cloud_server import cloud_server
from tests.proof.counting_proxy import CountingProxy, counting_proxy
from tests.proof.database_faults import connected, rows
from tests.proof.file_events import FileEvents, file_events
from tests.proof.forked_workers import ForkedWorkers, forked_workers
from tests.proof.killed_operations.operation import Organisation
from tests.proof.real_server import PASSWORD, environment_for

SECONDS_BETWEEN_LOOKS = 0.02


@dataclass
class KilledService:
    workers: ForkedWorkers
    proxy: CountingProxy
    files: FileEvents
    superuser: Address
    disturbed: Organisation
    undisturbed: Organisation
    kills: int = 0

    def kill(self) -> None:
        """Kill the worker and what it started, and expire its leases."""
        if self.workers.kill():
            self.kills += 1

    def let_leases_end(self) -> None:
        rows(self.superuser, "UPDATE jobs SET leased_until = now() WHERE state = 'running'")

    def seen(self, organisation: Organisation, questions: Sequence[str]) -> Seen:
        """A digest of each response, all at the same moment."""
        who = organisation.organisation_id
        (found,) = rows(self.superuser, _digests(questions), who)
        return tuple(found)

    def difference(self, questions: Sequence[str], found: Seen, expected: Seen) -> str:
        """The first response that differs between the two organisations, shortened."""
        at = next(at for at, one in enumerate(found) if one != expected[at])
        both = [
            [str(tuple(row)) for row in rows(self.superuser, questions[at], one.organisation_id)]
            for one in (self.disturbed, self.undisturbed)
        ]
        more, less = (sorted(set(one) - set(two)) for one, two in (both, both[::-1]))
        counts = f"{len(both[0])} rows for {len(both[1])}"
        shown = f"now too much {_short(more[:2])}, missing {_short(less[:2])}"
        return f"{questions[at][:60]}…: {counts}; {shown}"


Seen = tuple[str, ...]
SHOWN_MAX = 200


def _short(texts: list[str]) -> list[str]:
    return [text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…" for text in texts]


def _digests(questions: Sequence[str]) -> str:
    """One query for all tables; rows in a fixed order."""
    one = "(SELECT md5(string_agg(t::text, '\n' ORDER BY t::text)) FROM ({}) t)"
    return "SELECT " + ", ".join(one.format(question) for question in questions)


class StateWatcher:
    """Reads continuously and records every state that is neither the old nor the new one."""

    def __init__(
        self, killed: KilledService, questions: Sequence[str], before: Seen, after: Seen
    ) -> None:
        self.killed, self.questions, self.before, self.after = killed, questions, before, after
        self.looks = 0
        self.misses: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._look()), daemon=True)

    def __enter__(self) -> StateWatcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    async def _look(self) -> None:
        new_seen, asked = False, _digests(self.questions)
        async with connected(self.killed.superuser) as db:
            while not self._over.is_set() and not self.misses:
                who = self.killed.disturbed.organisation_id
                found = tuple(await db.fetchrow(asked, who))
                self.looks += 1
                new_seen = new_seen or found == self.after
                if found not in (self.before, self.after):
                    told = self.killed.difference
                    wrong = await asyncio.to_thread(told, self.questions, found, self.after)
                    self.misses.append(f"seen in part: {wrong}")
                elif new_seen and found != self.after:
                    self.misses.append("seen, and gone again")
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


@contextmanager
def killed_service(folder: Path) -> Iterator[KilledService]:
    """A database, a proxy in front of it, workers behind the proxy, and two organisations."""
    data, sockets = folder / "data", folder / "sockets"
    for needed in (data, sockets):
        needed.mkdir(parents=True)
    with ExitStack() as stack:
        behind = stack.enter_context(embedded_postgres(folder / "postgres"))
        superuser = superuser_address(folder / "postgres")
        made = asyncio.run(_organisations(behind, data / "key"))
        proxy = stack.enter_context(counting_proxy(sockets, behind))
        cloud = stack.enter_context(cloud_server())
        settings = {
            "NIMBILL_PROVISIONER": "aws",
            "NIMBILL_AWS_ENDPOINT_URL": cloud.url,
            "NIMBILL_DATABASE_URL": proxy.address.url,
            "NIMBILL_KEY_FILE": str(data / "key"),
            "NIMBILL_RATE_LIMIT": "0",
        }
        files = stack.enter_context(file_events(data))
        workers = stack.enter_context(forked_workers(folder, environment_for(data, settings)))
        organisations = [
            Organisation(
                one.organisation_id,
                workers.url,
                {},
                {},
                cloud,
                data / "inbox" / one.organisation_id,
                superuser,
            )
            for one in made
        ]
        for organisation, one in zip(organisations, made, strict=True):
            organisation.headers |= _bearer(organisation, one, "/core/access_token")
            as_root = {"grant_type": "password", "username": "root", "password": PASSWORD}
            organisation.legacy |= _bearer(organisation, one, "/v3/access_token", **as_root)
        yield KilledService(workers, proxy, files, superuser, organisations[0], organisations[1])


async def _organisations(behind: Address, key_file: Path) -> list[NewOrganisation]:
    encryptor, engine = load_or_create_key(key_file), create_app_engine(behind.url)
    try:
        await prepare_database(behind.url, encryptor)
        return [
            await create_organisation(
                engine, encryptor, name=f"X1 {number}", username="root", password=PASSWORD
            )
            for number in range(2)
        ]
    finally:
        await engine.dispose()


def _bearer(
    organisation: Organisation, made: NewOrganisation, path: str, **more: str
) -> dict[str, str]:
    form = {
        "grant_type": "client_credentials",
        "client_id": made.client_id,
        "client_secret": made.client_secret,
        **more,
    }
    answer = organisation.answered("POST", path, data=form)
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}
