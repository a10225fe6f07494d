"""No secret leaks, and no log and no error response repeats what was sent.

A real server receives canaries as passwords, secrets, tokens, signatures of download links,
headers, keys and values, and as credentials and git keys of templates in every form, whose stacks
it launches. It meets errors of every kind, including a failing database. Then responses, logs, the
database's log, a dump by its superuser, every file of the data folder including the write-ahead
log, temporary files, command lines and environments of its processes are searched. An accepted
value or an Idempotency-Key may be stored, but may not appear in a log or an error response.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from nimbill.database.embedded_postgres import Address, bin_folder, superuser_address
from tests.legacy.broken_variants import R3_VARIANTS  # version 3
from tests.proof.broken_variants import BrokenVariant
from tests.proof.canaries import Canaries, find_canaries, find_canaries_in_folder
from tests.proof.leaky_requests import GROUPS, USERS, CanaryClient
from tests.proof.leaky_stacks import StackCanaryClient  # version 3
from tests.proof.real_server import RealServer, children, real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.temporary_database import execute_sql

TARGET = "0 canaries anywhere except in the response that issued them"
QUICK = 1  # rounds
FULL = 6
SECONDS_MAX = 900

# how the superuser breaks the database, and how that is undone; requests fail meanwhile
FAULTS = (
    ("ALTER TABLE billing_groups RENAME TO away", "ALTER TABLE away RENAME TO billing_groups"),
    ("ALTER TABLE users RENAME TO away", "ALTER TABLE away RENAME TO users"),
    (
        (  # organisations of earlier rounds have duplicates
            "CREATE UNIQUE INDEX proof ON billing_groups (inv_aggregate) "
            "WHERE organisation_id = '{organisation_id}'"
        ),
        "DROP INDEX proof",
    ),
    (
        "ALTER TABLE billing_groups ADD CONSTRAINT proof CHECK (length(remarks) < 3) NOT VALID",
        "ALTER TABLE billing_groups DROP CONSTRAINT proof",
    ),
    (
        "ALTER TABLE audit_log ADD CONSTRAINT proof CHECK (length(entry) < 3) NOT VALID",
        "ALTER TABLE audit_log DROP CONSTRAINT proof",
    ),
    (  # the message of Python's error contains the stored value
        (
            "DO $$ BEGIN "
            "ALTER TABLE billing_groups DROP CONSTRAINT IF EXISTS billing_groups_language_check; "
            "UPDATE billing_groups SET language = remarks "
            "WHERE organisation_id = '{organisation_id}'; END $$"
        ),
        "UPDATE billing_groups SET language = NULL WHERE organisation_id = '{organisation_id}'",
    ),
    (  # version 3
        "ALTER TABLE legacy_layers RENAME TO away",
        "ALTER TABLE away RENAME TO legacy_layers",
    ),
    (  # version 3
        "ALTER TABLE legacy_template_versions ADD CONSTRAINT proof CHECK (size < 3) NOT VALID",
        "ALTER TABLE legacy_template_versions DROP CONSTRAINT proof",
    ),
)
CONNECTIONS_REFUSED = (
    "ALTER DATABASE nimbill CONNECTION LIMIT 0",
    "ALTER DATABASE nimbill CONNECTION LIMIT -1",
)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    folder = environment.new_folder("r3")
    (folder / "temporary").mkdir()
    settings = {"TMPDIR": str(folder / "temporary"), "NIMBILL_RATE_LIMIT": "0"}
    canaries = Canaries(environment.random("R3"))
    with real_server(folder / "data", settings) as server:
        superuser = superuser_address(folder / "data" / "postgres")
        clients = [_run_client(server, superuser, canaries) for _ in range(size)]
        _crash_a_worker(server)
        execute_sql(superuser, "CHECKPOINT")
        execute_sql(superuser, "SELECT pg_switch_wal()")
        outside = list(_find_outside_responses(server, superuser, canaries))
    outside += _find_in_files(folder, canaries)
    misses = [miss for client in clients for miss in client.misses] + outside
    each_once = list(dict.fromkeys(misses))  # a report shows the first few only
    return Measurement(_format_figures(clients, canaries, misses), each_once)


def _format_figures(clients: list[CanaryClient], canaries: Canaries, misses: list[str]) -> str:
    statuses: dict[int, int] = {}
    for client in clients:
        for status, count in client.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    answers = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
    return (
        f"{len(canaries.secrets)} secrets and {len(canaries.words)} words sent in "
        f"{sum(statuses.values())} requests ({answers}): {len(misses)} found"
    )


def _run_client(server: RealServer, superuser: Address, canaries: Canaries) -> CanaryClient:
    password = canaries.secret("the root password")
    organisation = server.init(password=password)
    canaries.keep("the first client secret", organisation["client_secret"])
    with httpx.Client(base_url=server.url, timeout=30) as http:
        client = CanaryClient(http, canaries, organisation, password)
        token = client.sign_in()
        client.create_records(token)
        client.download_export(token)
        client.send_refused_requests(token)
        stacks = StackCanaryClient(client)  # version 3
        stacks.run()  # version 3
        master = stacks.master()  # version 3
        for broken, repaired in FAULTS:
            execute_sql(superuser, broken.format(**organisation))
            try:
                _send_requests(client, token)
                stacks.send_during_faults(master)  # version 3
            finally:
                execute_sql(superuser, repaired.format(**organisation))
        execute_sql(superuser, CONNECTIONS_REFUSED[0])
        try:
            execute_sql(superuser, _END_SESSIONS)
            _send_requests(client, token)
        finally:
            execute_sql(superuser, CONNECTIONS_REFUSED[1])
        client.send_refused_token_requests()
    return client


_END_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = 'nimbill' AND pid <> pg_backend_pid()
"""


def _send_requests(client: CanaryClient, token: str) -> None:
    bearer = {"Authorization": f"Bearer {token}"}
    client.send("GET", GROUPS, headers=bearer)
    key = {"Idempotency-Key": client.canaries.word("Idempotency-Key")}
    client.send("POST", GROUPS, json=client.group(), headers=bearer | key)
    client.send("POST", USERS, json=client.subuser(), headers=bearer)
    known = {name: client.organisation[name] for name in ("client_id", "client_secret")}
    wrong = {"username": "root", "password": client.canaries.secret("password, wrong")}
    form = {"grant_type": "password"} | known | wrong
    client.send("POST", "/core/access_token", data=form)


def _crash_a_worker(server: RealServer) -> None:
    """Send a signal that makes a process dump its state where that is enabled."""
    os.kill(server.workers()[0], signal.SIGABRT)
    time.sleep(1)


def _find_outside_responses(
    server: RealServer, superuser: Address, canaries: Canaries
) -> Iterator[str]:
    dump = _dump(superuser)
    for needle in find_canaries(dump, canaries.secrets):
        yield f"{canaries.secrets[needle]} in a dump of the database"
    if not find_canaries(dump, canaries.words):
        yield "the dump does not even contain stored words: the search does not work"
    for pid in (server.process.pid, *children(server.process.pid)):
        for name in ("cmdline", "environ"):
            shown = _read_process_file(pid, name)
            for needle in find_canaries(shown, canaries.secrets):
                yield f"{canaries.secrets[needle]} in the {name} of a process"


def _read_process_file(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # the process has ended meanwhile


def _dump(superuser: Address) -> bytes:
    return subprocess.run(
        [
            bin_folder() / "pg_dump",
            "--host",
            superuser.host,
            "--port",
            str(superuser.port),
            "--username",
            superuser.user,
            superuser.database,
        ],
        env={**os.environ, "PGPASSWORD": superuser.password},
        capture_output=True,
        check=True,
    ).stdout


def _find_in_files(folder: Path, canaries: Canaries) -> list[str]:
    """Secrets in any file; sent values in our logs and the database log."""
    misses = [
        f"{canaries.secrets[needle]} in {_describe_file(file)}"
        for file, needle in find_canaries_in_folder(folder, canaries.secrets)
    ]
    logs = [folder / "data.log", *sorted((folder / "data" / "postgres" / "log").rglob("*"))]
    misses += [
        f"{canaries.words[needle]} in {_describe_file(log.relative_to(folder))}"
        for log in logs
        for needle in sorted(find_canaries(log.read_bytes(), canaries.words))
    ]
    return misses


def _describe_file(file: Path) -> str:
    return f"the file {file}"


VARIANTS = [
    BrokenVariant(
        "messages-logged",
        "An unexpected error is logged with its message.",
        "in the file data.log",
        "foundation/logs.py",
        '"error": type(error).__name__,',
        '"error": f"{type(error).__name__}: {error}",',
    ),
    BrokenVariant(
        "password-audited",
        "The audit row stores a password from the request.",
        "in a 200 of /m/core/audit",
        "http/routing.py",
        '"password", "old_password',
        '"old_password',
    ),
    BrokenVariant(
        "secret-not-hashed",
        "A client secret is stored without hashing.",
        "a client secret in a dump of the database",
        "access/passwords.py",
        "return sha256(secret.encode()).digest()",
        "return secret.encode()",
    ),
    *R3_VARIANTS,  # version 3
]
