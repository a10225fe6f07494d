"""A service whose workers are killed, with a disturbed and an undisturbed organisation."""

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
from tests.legacy.provisioning.cloud_server import cloud_server  # version 3
from tests.proof.counting_proxy import CountingProxy, counting_proxy
from tests.proof.file_events import FileEvents, file_events
from tests.proof.forked_workers import ForkedWorkers, forked_workers
from tests.proof.killed_operations.operation import Organisation
from tests.proof.real_server import PASSWORD, environment_for
from tests.temporary_database import connected, execute_sql

SECONDS_BETWEEN_READS = 0.02


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

    def expire_leases(self) -> None:
        execute_sql(self.superuser, "UPDATE jobs SET leased_until = now() WHERE state = 'running'")

    def read_state(self, organisation: Organisation, queries: Sequence[str]) -> StateDigest:
        """A digest of each response, all at the same moment."""
        organisation_id = organisation.organisation_id
        (found,) = execute_sql(self.superuser, _digests(queries), organisation_id)
        return tuple(found)

    def difference(self, queries: Sequence[str], found: StateDigest, expected: StateDigest) -> str:
        """The first response that differs between the two organisations, shortened."""
        index = next(index for index, digest in enumerate(found) if digest != expected[index])
        both = [
            [
                str(tuple(row))
                for row in execute_sql(self.superuser, queries[index], organisation.organisation_id)
            ]
            for organisation in (self.disturbed, self.undisturbed)
        ]
        unexpected, missing = (sorted(set(left) - set(right)) for left, right in (both, both[::-1]))
        counts = f"{len(both[0])} rows instead of {len(both[1])}"
        shown = f"unexpected {_shorten(unexpected[:2])}, missing {_shorten(missing[:2])}"
        return f"{queries[index][:60]}…: {counts}; {shown}"


StateDigest = tuple[str, ...]
SHOWN_MAX = 200


def _shorten(texts: list[str]) -> list[str]:
    return [text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…" for text in texts]


def _digests(queries: Sequence[str]) -> str:
    """One query for all tables; rows in a fixed order."""
    digest = "(SELECT md5(string_agg(t::text, '\n' ORDER BY t::text)) FROM ({}) t)"
    return "SELECT " + ", ".join(digest.format(query) for query in queries)


class StateWatcher:
    """Reads continuously and records every state that is neither the old nor the new one."""

    def __init__(
        self, killed: KilledService, queries: Sequence[str], before: StateDigest, after: StateDigest
    ) -> None:
        self.killed, self.queries, self.before, self.after = killed, queries, before, after
        self.reads = 0
        self.misses: list[str] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._read_repeatedly()), daemon=True
        )

    def __enter__(self) -> StateWatcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    async def _read_repeatedly(self) -> None:
        new_state_read, query = False, _digests(self.queries)
        async with connected(self.killed.superuser) as db:
            while not self._stopped.is_set() and not self.misses:
                organisation_id = self.killed.disturbed.organisation_id
                found = tuple(await db.fetchrow(query, organisation_id))
                self.reads += 1
                new_state_read = new_state_read or found == self.after
                if found not in (self.before, self.after):
                    describe = self.killed.difference
                    wrong = await asyncio.to_thread(describe, self.queries, found, self.after)
                    self.misses.append(f"a partial state was read: {wrong}")
                elif new_state_read and found != self.after:
                    self.misses.append("the new state was read, and then the old one again")
                await asyncio.sleep(SECONDS_BETWEEN_READS)


@contextmanager
def killed_service(folder: Path) -> Iterator[KilledService]:
    """A database, a proxy in front of it, workers behind the proxy, and two organisations."""
    data, sockets = folder / "data", folder / "sockets"
    for needed in (data, sockets):
        needed.mkdir(parents=True)
    with ExitStack() as stack:
        database = stack.enter_context(embedded_postgres(folder / "postgres"))
        superuser = superuser_address(folder / "postgres")
        created = asyncio.run(create_organisations(database, data / "key", ["X1 0", "X1 1"]))
        proxy = stack.enter_context(counting_proxy(sockets, database))
        cloud = stack.enter_context(cloud_server())  # version 3
        settings = {
            "NIMBILL_PROVISIONER": "aws",  # version 3
            "NIMBILL_AWS_ENDPOINT_URL": cloud.url,  # version 3
            "NIMBILL_DATABASE_URL": proxy.address.url,
            "NIMBILL_KEY_FILE": str(data / "key"),
            "NIMBILL_RATE_LIMIT": "0",
        }
        files = stack.enter_context(file_events(data))
        workers = stack.enter_context(forked_workers(folder, environment_for(data, settings)))
        organisations = [
            Organisation(
                new.organisation_id,
                workers.url,
                headers={},
                legacy={},  # version 3
                cloud=cloud,  # version 3
                inbox=data / "inbox" / new.organisation_id,
                superuser=superuser,
            )
            for new in created
        ]
        for organisation, new in zip(organisations, created, strict=True):
            organisation.client |= {"client_id": new.client_id, "client_secret": new.client_secret}
            organisation.headers |= _bearer(organisation, new, "/core/access_token")
            as_root = {  # version 3
                "grant_type": "password",
                "username": "root",
                "password": PASSWORD,
            }
            organisation.legacy |= _bearer(  # version 3
                organisation, new, "/v3/access_token", **as_root
            )
        yield KilledService(workers, proxy, files, superuser, organisations[0], organisations[1])


async def create_organisations(
    database: Address, key_file: Path, names: Sequence[str]
) -> list[NewOrganisation]:
    encryptor, engine = load_or_create_key(key_file), create_app_engine(database.url)
    try:
        await prepare_database(database.url, encryptor)
        return [
            await create_organisation(
                engine, encryptor, name=name, username="root", password=PASSWORD
            )
            for name in names
        ]
    finally:
        await engine.dispose()


def _bearer(
    organisation: Organisation, created: NewOrganisation, path: str, **more: str
) -> dict[str, str]:
    form = {
        "grant_type": "client_credentials",
        "client_id": created.client_id,
        "client_secret": created.client_secret,
        **more,
    }
    answer = organisation.request_until_answered("POST", path, data=form)
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}
