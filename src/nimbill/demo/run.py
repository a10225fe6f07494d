"""Runs the demo: starts a database and the service, creates the seed data, prints the guide."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nimbill.application import server
from nimbill.application.database_watch import watch_database
from nimbill.application.installed import load_settings
from nimbill.application.open_database import open_database, prepare_installation
from nimbill.demo.api_client import DemoError
from nimbill.demo.guide import SeededMonths, format_guide, write_tour
from nimbill.demo.logins import FILE_NAME as LOGIN_FILE
from nimbill.demo.logins import DemoLogins, create_missing_logins
from nimbill.demo.monthly_data import last_months
from nimbill.demo.resellers import AOZORA
from nimbill.demo.seeding import DataSeeding

HOST = "127.0.0.1"
WORKERS = 2
READY_SECONDS_MAX = 180
DEFAULT_FOLDER = ".nimbill-demo"
MARKER = "demo-folder.txt"

# Settings that would make the demo use files or services outside its own folder.
IGNORED_SETTINGS = (
    "AUTH_URL",
    "AWS_ENDPOINT_URL",  # version 3
    "DATABASE_URL",
    "ENGINE",
    "IMPORT_ROOTS",
    "KEY_FILE",
    "LAKE_URL",
    "LEGACY_URL",  # version 3
    "PROVISIONER",  # version 3
    "SMTP_URL",
    "SPARK_MASTER",
)


def run_demo(port: int, months: int) -> None:
    """Runs until SIGTERM or Ctrl-C. The next start continues with the same data."""
    server.refuse_port_in_use(HOST, port)
    folder = Path(os.environ.get("NIMBILL_DATA") or DEFAULT_FOLDER).expanduser().absolute()
    _claim_folder(folder)
    _override_settings(folder, port)
    settings = load_settings()
    _print(f"Starting the demo in {folder} …")
    with open_database(settings) as url:
        logins = asyncio.run(_prepare_database(url, settings.key_file, folder))
        seeding = BackgroundSeeding(folder, logins, last_months(months))
        with (
            _stderr_to_file(folder / "demo.log"),
            seeding.stop_if_not_ready(),
            watch_database(settings),
        ):
            _serve(port, url, folder, seeding)
        if seeding.failure is not None:
            raise seeding.failure
    _print(f"Stopped. The data stays in {folder}.")


def _claim_folder(folder: Path) -> None:
    """Mark a new folder as the demo's; refuse one that contains anything else."""
    if folder.exists() and not folder.is_dir():
        raise DemoError(f"{folder} is not a folder. Name another one with NIMBILL_DATA.")
    is_demo = any((folder / name).exists() for name in (MARKER, LOGIN_FILE))
    if folder.exists() and not is_demo and any(folder.iterdir()):
        raise DemoError(
            f"{folder} contains other data, which the demo would mix with its own. Name an empty "
            "or a new folder with NIMBILL_DATA."
        )
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Written first, so that a demo that was interrupted can continue in its folder.
    (folder / MARKER).write_text("The data in this folder belongs to `nimbill demo`.\n")


def _serve(port: int, url: str, folder: Path, seeding: "BackgroundSeeding") -> None:
    try:
        server.serve(
            host=HOST,
            port=port,
            workers=WORKERS,
            database_url=url,
            data=folder,
            when_ready=seeding.run,
        )
    except SystemExit as error:  # raised by the server if its workers do not start
        raise DemoError(f"The service stopped unexpectedly. See {folder}/demo.log.") from error


def _override_settings(folder: Path, port: int) -> None:
    """Keeps the demo away from an installation that the environment describes."""
    for name in IGNORED_SETTINGS:
        os.environ.pop(f"NIMBILL_{name}", None)
    os.environ["NIMBILL_DATA"] = str(folder)
    os.environ["NIMBILL_BASE_URL"] = f"http://{HOST}:{port}"


async def _prepare_database(url: str, key_file: Path, folder: Path) -> DemoLogins:
    encryptor = await prepare_installation(url, key_file)
    return await create_missing_logins(url, encryptor, folder)


class BackgroundSeeding:
    """Creates the seed data in a thread beside the service. A failure stops the service."""

    def __init__(self, folder: Path, logins: DemoLogins, months: Sequence[str]) -> None:
        self.failure: DemoError | None = None
        self._folder = folder
        self._logins = logins
        self._months = months
        self._stopped = threading.Event()

    def run(self, address: str) -> None:
        """Creates the recent months, prints the guide, then creates the earlier months."""
        self._ready_timer.cancel()
        try:
            seeding = DataSeeding(address, self._logins, self._folder, self._months)
            seeding.seed_recent_months(_print)
            _print(self._format_guide(address, seeding))
            if seeding.seed_earlier_months():
                _print(f"All {len(self._months)} months since {self._months[0]} are complete.")
        except DemoError as error:
            self._stop(error)
        except Exception as error:  # noqa: BLE001  # any error must stop the demo
            # An error while the service stops is expected; the next start continues from here.
            if not self._stopped.wait(server.STOP_SECONDS):
                self._stop(
                    DemoError(
                        f"Creating the seed data failed ({error}). See {self._folder}/demo.log."
                    )
                )

    def _format_guide(self, address: str, seeding: DataSeeding) -> str:
        companies = seeding.clients[AOZORA.username].company_ids()
        write_tour(address, self._folder, self._logins, companies)
        months = SeededMonths(first=self._months[0], unfinished=seeding.has_steps_left())
        return format_guide(address, self._folder, self._logins, months)

    @contextmanager
    def stop_if_not_ready(self) -> Iterator[None]:
        """Stops the demo if the service does not become ready in time."""
        not_ready = DemoError(
            f"The service was not ready after {READY_SECONDS_MAX} seconds. See "
            f"{self._folder}/demo.log."
        )
        self._ready_timer = threading.Timer(READY_SECONDS_MAX, self._stop, [not_ready])
        self._ready_timer.daemon = True
        self._ready_timer.start()
        try:
            yield
        finally:
            self._ready_timer.cancel()
            self._stopped.set()

    def _stop(self, failure: DemoError) -> None:
        self.failure = failure
        os.kill(os.getpid(), signal.SIGTERM)


def _print(text: str) -> None:
    print(text, flush=True)


@contextmanager
def _stderr_to_file(file: Path) -> Iterator[None]:
    """The log goes to a file, so that the terminal shows only the guide."""
    original = os.dup(2)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    try:
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)
