"""The `nimbill` program: its commands, and how it reports errors."""

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from cyclopts import App
from sqlalchemy.exc import SQLAlchemyError

import nimbill
from nimbill.access.signing_keys import WrongKeyFile
from nimbill.application.server import CannotListen
from nimbill.commands.agent import agent  # version 3
from nimbill.commands.audit import audit
from nimbill.commands.console import refuse
from nimbill.commands.demo import demo
from nimbill.commands.export import export
from nimbill.commands.import_costs import import_
from nimbill.commands.init import init
from nimbill.commands.invoice import invoice
from nimbill.commands.keys import keys
from nimbill.commands.serve import serve
from nimbill.commands.tie_out import tie_out
from nimbill.database.embedded_postgres import EmbeddedPostgresError
from nimbill.database.migrate import MigrationError
from nimbill.demo.api_client import DemoError
from nimbill.foundation.encryption import KeyFileError
from nimbill.foundation.errors import ServiceError
from nimbill.foundation.settings import SettingsError

app = App(name="nimbill", help=nimbill.__doc__, version=nimbill.__version__)
app.command(agent)  # version 3
app.command(audit)
app.command(demo)
app.command(export)
app.command(import_, name="import")
app.command(init)
app.command(invoice)
app.command(keys)
app.command(serve)
app.command(tie_out)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Errors are reported in one sentence, without a traceback.

    The arguments of the process are used by default.
    """
    signal.signal(signal.SIGTERM, _raise_interrupt)
    try:
        app(arguments)
    except KeyboardInterrupt:
        sys.exit(130)
    except ServiceError as error:
        refuse(_format_error(error))
    except (
        SettingsError,
        KeyFileError,
        WrongKeyFile,
        MigrationError,
        EmbeddedPostgresError,
        CannotListen,
        DemoError,
    ) as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"{error.filename or 'The operating system'}: {error.strerror or error}")
    except SQLAlchemyError as error:
        refuse(f"The database failed ({type(error).__name__}). See the log of the database.")


def _raise_interrupt(_signal: int, _frame: object) -> NoReturn:
    """SIGTERM ends every `with` block in order, like Ctrl-C."""
    raise KeyboardInterrupt


def _format_error(error: ServiceError) -> str:
    rules = "; ".join(f"{violation.field}: {violation.rule}" for violation in error.violations)
    return f"{error.detail} ({rules})" if rules else error.detail
