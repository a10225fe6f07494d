"""The command line: init, serve, demo, audit; exit codes mean what they should."""

import asyncio
import signal
import sys
from dataclasses import asdict
from json import dumps
from typing import Annotated, NoReturn, TypeVar

from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

import nimbill
from nimbill.access.signing_keys import WrongKeyFile
from nimbill.application import server
from nimbill.application.installed import load_settings
from nimbill.application.open_database import database, prepare, with_database
from nimbill.application.server import CannotListen
from nimbill.audit.verification import verify_chain
from nimbill.commands.agent import agent  # version 3
from nimbill.commands.export import export
from nimbill.commands.import_costs import import_
from nimbill.commands.invoice import invoice
from nimbill.commands.keys import keys
from nimbill.commands.tie_out import tie_out
from nimbill.database.embedded_postgres import EmbeddedPostgresError
from nimbill.database.migrate import MigrationError
from nimbill.database.tenant_scope import engine_for
from nimbill.demo.api_client import DemoError
from nimbill.demo.monthly_data import MONTHS_MAX, MONTHS_MIN
from nimbill.demo.run import run_demo
from nimbill.foundation.encryption import Encryptor, KeyFileError, load_or_create_key
from nimbill.foundation.errors import ServiceError
from nimbill.foundation.settings import SettingsError
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation

BROKEN_CHAIN = 1
REFUSED = 2  # the command was understood and cannot be carried out

app = App(name="nimbill", help=nimbill.__doc__, version=nimbill.__version__)
audit = App(name="audit", help="The audit log.")
app.command(agent)  # version 3
app.command(audit)
app.command(keys)
app.command(export)
app.command(import_, name="import")
app.command(invoice)
app.command(tie_out)

T = TypeVar("T")
Port = Annotated[int, Parameter(validator=Number(gte=1, lte=65_535))]
Months = Annotated[int, Parameter(validator=Number(gte=MONTHS_MIN, lte=MONTHS_MAX))]
Workers = Annotated[int, Parameter(validator=Number(gte=1, lte=256))]
Switch = Annotated[bool, Parameter(negative="")]

_out = Console(highlight=False)
_problems = Console(stderr=True, highlight=False)


def main() -> None:
    """Run a command; what goes wrong is one plain sentence and an exit code of its own."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except ServiceError as error:
        _refuse(_sentence(error))
    except (
        SettingsError,
        KeyFileError,
        WrongKeyFile,
        MigrationError,
        EmbeddedPostgresError,
        CannotListen,
        DemoError,
    ) as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{error.filename or 'the system refused'}: {error.strerror or error}")
    except SQLAlchemyError as error:
        _refuse(f"the database failed ({type(error).__name__}); its log says why")


def _as_interrupt(_signal: int, _frame: object) -> NoReturn:
    """SIGTERM lets every `with` end in order, as Ctrl-C does."""
    raise KeyboardInterrupt


def _refuse(sentence: str) -> NoReturn:
    _problems.print(f"nimbill: {sentence}", style="red", markup=False, soft_wrap=True)
    sys.exit(REFUSED)


def _sentence(error: ServiceError) -> str:
    rules = "; ".join(f"{violation.field}: {violation.rule}" for violation in error.violations)
    return f"{error.detail} ({rules})" if rules else error.detail


@app.command
def init(
    *,
    organisation: str,
    username: str,
    password_stdin: Switch = False,
    json: Switch = False,
) -> None:
    """Make an organisation with its root user and a first API client.

    May be run again for further organisations, also while the server runs.

    Parameters
    ----------
    organisation
        Its name.
    username
        Of the root user: 4 to 18 letters, digits, _, . or -.
    password_stdin
        Read the root user's password from standard input.
    json
        Print one JSON object and nothing else.
    """
    name = organisation.strip()
    if not name.isprintable() or not name:
        _refuse("the organisation needs a name of printable characters")
    password = _password(password_stdin)
    made = with_database(
        load_settings(),
        lambda url, encryptor: _make_organisation(
            url, encryptor, name=name, username=username, password=password
        ),
    )
    _show_organisation(made, as_json=json)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        try:
            return sys.stdin.buffer.readline().decode().rstrip("\r\n")
        except UnicodeDecodeError:
            _refuse("the password is not UTF-8")
    if not sys.stdin.isatty():
        _refuse("give the password with --password-stdin")
    return _out.input("Password of the root user: ", password=True)


async def _make_organisation(
    url: str, encryptor: Encryptor, *, name: str, username: str, password: str
) -> NewOrganisation:
    engine = engine_for(url)
    try:
        return await create_organisation(
            engine, encryptor, name=name, username=username, password=password
        )
    finally:
        await engine.dispose()


def _show_organisation(made: NewOrganisation, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(dumps(asdict(made)) + "\n")
        return
    for name, value in asdict(made).items():
        _out.print(f"{name:16} {value}", markup=False)
    _out.print("The client secret is shown this once; keep it safe.")


@app.command
def serve(*, host: str = "127.0.0.1", port: Port = 8080, workers: Workers = 2) -> None:
    """Serve the API until SIGTERM or Ctrl-C.

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0 for every address of the machine.
    port
        Port to listen on.
    workers
        Worker processes; one for each processor is a good number.
    """
    settings = load_settings()
    server.refuse_port_in_use(host, port)
    with database(settings) as url:
        asyncio.run(prepare(url, load_or_create_key(settings.key_file)))
        server.serve(
            host=host,
            port=port,
            workers=workers,
            database_url=url,
            data=settings.data,
            when_ready=_say_where,
        )


def _say_where(address: str) -> None:
    _out.print(f"Nimbill answers at {address} (API page: {address}/docs)", soft_wrap=True)


@app.command
def demo(*, port: Port = 8080, months: Months = MONTHS_MAX) -> None:
    """Start with example data: a reseller, its customers, and commands to try.

    Keeps its data in .nimbill-demo, or in the folder NIMBILL_DATA names, on an embedded
    PostgreSQL; a database address that is set is left alone.

    Parameters
    ----------
    port
        Port to listen on.
    months
        How many of its months to tell; with fewer the first start takes less time.
    """
    run_demo(port, months)


@audit.command
def verify(*, organisation: str, json: Switch = False) -> None:
    """Check the hash chain of an organisation's audit log; exit code 1 where it is broken.

    Parameters
    ----------
    organisation
        The organisation's id.
    json
        Print one JSON object and nothing else.
    """
    settings = load_settings()
    found = with_database(
        settings,
        lambda url, encryptor: verify_chain(url, encryptor, settings.data / "audit", organisation),
    )
    if json:
        sys.stdout.write(found.as_json() + "\n")
    else:
        _out.print(found.as_text(), markup=False)
    if found.first_break is not None:
        sys.exit(BROKEN_CHAIN)
