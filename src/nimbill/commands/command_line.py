"""The `nimbill` program: its commands, and how it reports errors."""

import pkgutil
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from cyclopts import App
from sqlalchemy.exc import SQLAlchemyError

import nimbill
from nimbill.commands.console import refuse
from nimbill.foundation.errors import OperatorError, ServiceError

COMMANDS = {
    "accounts": "nimbill.commands.accounts:accounts",
    "agent": "nimbill.commands.agent:agent",  # version 3
    "audit": "nimbill.commands.audit:audit",
    "demo": "nimbill.commands.demo:demo",
    "export": "nimbill.commands.export:export",
    "groups": "nimbill.commands.groups:groups",
    "import": "nimbill.commands.import_costs:import_",
    "init": "nimbill.commands.init:init",
    "invoice": "nimbill.commands.invoice:invoice",
    "keys": "nimbill.commands.keys:keys",
    "month": "nimbill.commands.month:month",
    "rates": "nimbill.commands.rates:rates",
    "serve": "nimbill.commands.serve:serve",
    "settings": "nimbill.commands.settings:settings",
    "tie-out": "nimbill.commands.tie_out:tie_out",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Errors are reported in one sentence, without a traceback.

    The arguments of the process are used by default.
    """
    signal.signal(signal.SIGTERM, _raise_interrupt)
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        build_app(arguments)(arguments)
    except KeyboardInterrupt:
        sys.exit(130)
    except ServiceError as error:
        refuse(_format_error(error))
    except OperatorError as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"{error.filename or 'The operating system'}: {error.strerror or error}")
    except SQLAlchemyError as error:
        refuse(f"The database failed ({type(error).__name__}). See the log of the database.")


def build_app(arguments: Sequence[str]) -> App:
    """Import only the module of the given command, because importing all of them takes seconds.

    Without a command all are imported, because the list of commands shows their descriptions.
    """
    app = App(name="nimbill", help=nimbill.__doc__, version=nimbill.__version__)
    has_command = bool(arguments) and arguments[0] in COMMANDS
    for name, path in COMMANDS.items():
        app.command(path if has_command else pkgutil.resolve_name(path), name=name)
    app.register_install_completion_command(
        help="Install completion of commands and options in your shell: bash, zsh or fish."
    )
    return app


def _raise_interrupt(_signal: int, _frame: object) -> NoReturn:
    """SIGTERM ends every `with` block in order, like Ctrl-C."""
    raise KeyboardInterrupt


def _format_error(error: ServiceError) -> str:
    """One sentence; several violations follow it, each on its own line."""
    rules = [f"{violation.field}: {violation.rule}" for violation in error.violations]
    if len(rules) > 1:
        return "\n  ".join([error.detail, *rules])
    return f"{error.detail} ({rules[0]})" if rules else error.detail
