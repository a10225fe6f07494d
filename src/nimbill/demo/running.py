"""The order of the demo: a database, the service on it, the story, and what to look at."""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nimbill.application import server
from nimbill.application.open_database import database
from nimbill.demo.accounts import Accounts, make_accounts
from nimbill.demo.calling import DemoError
from nimbill.demo.guide import Told, guide
from nimbill.demo.invoice_chapters import companies_of
from nimbill.demo.seeding import Telling
from nimbill.demo.story import AOZORA
from nimbill.demo.story_months import last_months
from nimbill.foundation.encryption import Encryptor, load_or_create_key
from nimbill.foundation.settings import read_settings

HOST = "127.0.0.1"
WORKERS = 2
READY_SECONDS_MAX = 180
FOLDER = ".nimbill-demo"

# settings by which the demo would leave its own folder
ELSEWHERE = (
    "AUTH_URL",
    "AWS_ENDPOINT_URL",
    "DATABASE_URL",
    "ENGINE",
    "IMPORT_ROOTS",
    "KEY_FILE",
    "LAKE_URL",
    "LEGACY_URL",
    "PROVISIONER",
    "SMTP_URL",
    "SPARK_MASTER",
)

Prepare = Callable[[str, Encryptor], Awaitable[None]]


def run_demo(port: int, months: int, prepare: Prepare) -> None:
    """Until SIGTERM or Ctrl-C. Started again, it goes on with the data it has."""
    server.refuse_taken_port(HOST, port)
    folder = Path(os.environ.get("NIMBILL_DATA") or FOLDER).expanduser().absolute()
    _leave_other_installations_alone(folder, port)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings = read_settings()
    print(f"Starting the demo in {folder} …", flush=True)
    with database(settings) as url:
        sealer = load_or_create_key(settings.key_file)
        accounts = asyncio.run(_prepared(url, sealer, folder, prepare))
        story = Story(folder, accounts, last_months(months))
        with _log_file(folder / "demo.log"), story.told_in_time():
            _serve(port, url, folder, story)
        if story.failure is not None:
            raise story.failure
    print(f"Stopped. The data stays in {folder}.", flush=True)


def _serve(port: int, url: str, folder: Path, story: "Story") -> None:
    try:
        server.serve(
            host=HOST,
            port=port,
            workers=WORKERS,
            database_url=url,
            data=folder,
            when_ready=story.tell,
        )
    except SystemExit as ended:  # the server's way of saying that its workers do not start
        raise DemoError(f"the service stopped by itself; see {folder}/demo.log") from ended


def _leave_other_installations_alone(folder: Path, port: int) -> None:
    """What the environment says of a real installation must not lead the demo into it."""
    for name in ELSEWHERE:
        os.environ.pop(f"NIMBILL_{name}", None)
    os.environ["NIMBILL_DATA"] = str(folder)
    os.environ["NIMBILL_BASE_URL"] = f"http://{HOST}:{port}"


async def _prepared(url: str, sealer: Encryptor, folder: Path, prepare: Prepare) -> Accounts:
    await prepare(url, sealer)
    return await make_accounts(url, sealer, folder)


class Story:
    """Told from a thread while the main one serves; a failure stops the service."""

    def __init__(self, folder: Path, accounts: Accounts, months: Sequence[str]) -> None:
        self.failure: DemoError | None = None
        self._folder = folder
        self._accounts = accounts
        self._months = months
        self._stopped = threading.Event()

    def tell(self, address: str) -> None:
        """The last months first, and the months before once there is something to look at."""
        self._in_time.cancel()
        try:
            telling = Telling(address, self._accounts, self._folder, self._months)
            telling.tell_last_months(_say)
            _say(self._guide(address, telling))
            if telling.tell_months_before():
                _say(f"All {len(self._months)} months are there, from {self._months[0]} on.")
        except DemoError as error:
            self._stop(error)
        except Exception as error:  # noqa: BLE001  # whatever it is, the demo must not hang
            # no failure where the service was being stopped: the next start goes on from here
            if not self._stopped.wait(server.STOP_SECONDS):
                self._stop(DemoError(f"the story broke off ({error}); see {self._folder}/demo.log"))

    def _guide(self, address: str, telling: Telling) -> str:
        return guide(
            address,
            self._folder,
            self._accounts,
            companies_of(telling.callers[AOZORA.username]),
            Told(first=self._months[0], in_part=telling.anything_left()),
        )

    @contextmanager
    def told_in_time(self) -> Iterator[None]:
        late = DemoError(
            f"the service has not become ready for {READY_SECONDS_MAX} seconds; see "
            f"{self._folder}/demo.log"
        )
        self._in_time = threading.Timer(READY_SECONDS_MAX, self._stop, [late])
        self._in_time.daemon = True
        self._in_time.start()
        try:
            yield
        finally:
            self._in_time.cancel()
            self._stopped.set()

    def _stop(self, failure: DemoError) -> None:
        self.failure = failure
        os.kill(os.getpid(), signal.SIGTERM)


def _say(what: str) -> None:
    print(what, flush=True)


@contextmanager
def _log_file(file: Path) -> Iterator[None]:
    """The log of this run goes to a file, so that the terminal keeps what is worth reading."""
    kept = os.dup(2)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(handle, 2)
    os.close(handle)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
