"""The `nimbill` program: its commands, and how it reports errors."""

import pkgutil
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import structlog
from asyncpg import InterfaceError, PostgresError
from cyclopts import App, CycloptsError
from sqlalchemy.exc import SQLAlchemyError

import nimbill
from nimbill.commands.console import (
    REFUSED,
    exit_with_error,
    expect_json,
    has_error_terminal,
    print_error,
    print_json_error,
)
from nimbill.costs.lake.lake_error import LakeError
from nimbill.database.tenant_scope import describe_database_error, is_database_unavailable
from nimbill.foundation.errors import OperatorError, ServiceError
from nimbill.foundation.failure_causes import describe_os_error
from nimbill.foundation.garbage_collection import keep_what_is_imported
from nimbill.foundation.logs import configure_library_logs, configure_logs
from nimbill.foundation.private_files import make_files_private

# Exit codes.
UNEXPECTED = 70
INTERRUPTED = 130

COMMANDS = {
    "accounts": "nimbill.commands.accounts:accounts",
    "agent": "nimbill.commands.agent:agent",  # version 3
    "archive": "nimbill.commands.archive:archive",
    "audit": "nimbill.commands.audit:audit",
    "backup": "nimbill.commands.backup:backup",
    "demo": "nimbill.commands.demo:demo",
    "export": "nimbill.commands.export:export",
    "groups": "nimbill.commands.groups:groups",
    "import": "nimbill.commands.import_costs:import_",
    "init": "nimbill.commands.init:init",
    "invoice": "nimbill.commands.invoice:invoice",
    "keys": "nimbill.commands.keys:keys",
    "lake": "nimbill.commands.lake:lake",
    "month": "nimbill.commands.month:month",
    "organisations": "nimbill.commands.organisations:organisations",
    "rates": "nimbill.commands.rates:rates",
    "restore": "nimbill.commands.restore:restore",
    "serve": "nimbill.commands.serve:serve",
    "settings": "nimbill.commands.settings:settings",
    "tie-out": "nimbill.commands.tie_out:tie_out",
    "users": "nimbill.commands.users:users",
}


log = structlog.get_logger()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Errors are reported in one sentence, without a traceback.

    The arguments of the process are used by default.
    """
    signal.signal(signal.SIGTERM, _raise_interrupt)
    make_files_private()
    arguments = sys.argv[1:] if arguments is None else arguments
    configure_logs()
    configure_library_logs()
    expect_json(_asks_for_json(arguments))
    try:
        app = build_app(arguments)
        keep_what_is_imported()
        app(arguments, exit_on_error=False, print_error=has_error_terminal())
    except KeyboardInterrupt:
        print_json_error("interrupted", "The command was interrupted.")
        sys.exit(INTERRUPTED)
    except CycloptsError as error:
        _exit_for_arguments(error)
    except Exception as error:  # noqa: BLE001  # every error is reported in one sentence
        _exit_for(error)


def _asks_for_json(arguments: Sequence[str]) -> bool:
    return any(argument == "--json" or argument.startswith("--json=") for argument in arguments)


def _exit_for_arguments(error: CycloptsError) -> NoReturn:
    """A terminal shows the error in a frame; a pipe gets one line."""
    text = " ".join(str(error).split())
    if not has_error_terminal():
        print_error(text)
    print_json_error("invalid_arguments", text)
    sys.exit(REFUSED)


def _exit_for(error: Exception) -> NoReturn:
    if isinstance(error, ServiceError):
        exit_with_error(
            REFUSED,
            _format_error(error),
            code=error.code,
            detail=error.detail,
            violations=error.violations,
        )
    if isinstance(error, OperatorError):
        exit_with_error(REFUSED, str(error))
    if isinstance(error, SQLAlchemyError | PostgresError | InterfaceError | ConnectionError):
        exit_with_error(REFUSED, _format_database_error(error), code="database_failed")
    if isinstance(error, LakeError):
        exit_with_error(REFUSED, error.cause, code="system_error")
    if isinstance(error, OSError):
        exit_with_error(REFUSED, describe_os_error(error), code="system_error")
    log.error("command_failed", exc_info=error)
    exit_with_error(
        UNEXPECTED,
        f"An unexpected error ended the command ({type(error).__name__}). The log line before "
        "this one names the place in the program.",
        code="unexpected",
    )


def build_app(arguments: Sequence[str]) -> App:
    """Import only the module of the given command, because importing all of them takes seconds.

    Without a command all are imported, because the list of commands shows their descriptions.
    """
    app = App(
        name="nimbill",
        help=nimbill.__doc__,
        version=nimbill.__version__,
        suppress_keyboard_interrupt=False,
    )
    named = arguments[0] if arguments and arguments[0] in COMMANDS else None
    for name, path in COMMANDS.items():
        imports = named in (None, name)
        app.command(pkgutil.resolve_name(path) if imports else path, name=name)
    app.register_install_completion_command(
        help="Install completion of commands and options in your shell: bash, zsh or fish."
    )
    return app


def _raise_interrupt(_signal: int, _frame: object) -> NoReturn:
    """SIGTERM ends every `with` block in order, like Ctrl-C."""
    raise KeyboardInterrupt


def _format_database_error(error: Exception) -> str:
    """The message of any other error may contain stored values."""
    if isinstance(error, SQLAlchemyError) and not is_database_unavailable(error):
        return f"The database failed ({type(error).__name__}). See the log of the database."
    return f"The database cannot be used: {describe_database_error(error)}"


def _format_error(error: ServiceError) -> str:
    """One sentence; several violations follow it, each on its own line."""
    rules = [f"{violation.field}: {violation.rule}" for violation in error.violations]
    if len(rules) > 1:
        return "\n  ".join([error.detail, *rules])
    return f"{error.detail} ({rules[0]})" if rules else error.detail
