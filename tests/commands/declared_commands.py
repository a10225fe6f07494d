"""Every declared command, and arguments with which each of them can be called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cyclopts import App

from nimbill.commands.command_line import build_app

# they have no result, and so no --json
RUN_UNTIL_STOPPED = {
    "agent",  # version 3
    "demo",
    "serve",
}
MONTH = "2026-09"

# Commands with --organisation that change nothing, and their other arguments.
READING_ARGUMENTS = {
    "accounts list": (),
    "archive export": ("--output", "unused"),
    "audit verify": (),
    "export focus": (MONTH,),
    "groups list": (),
    "groups show": ("BG-1",),
    "invoice print": (MONTH, "--into", "unused"),
    "lake verify": (),
    "month show": (MONTH,),
    "rates show": (MONTH,),
    "settings show": (),
    "tie-out": (MONTH,),
}
CHANGING_ARGUMENTS = {
    "accounts assign": ("012345678901", "BG-1"),
    "accounts import": ("/dev/null",),
    "groups create": ("BG-1", "--name", "name", "--company", "company"),
    "groups import": ("/dev/null",),
    "groups update": ("BG-1",),
    "import": ("a.csv", "--vendor", "aws"),
    "invoice create": (MONTH, "--vendor", "aws"),
    "month close": (MONTH, "--vendor", "aws"),
    "month reopen": (MONTH, "--vendor", "aws", "--reason", "reason"),
    "rates set": (MONTH, "150", "--vendor", "aws"),
    "settings save": (MONTH,),
    "settings set": ("rounding=down",),
    "users remove-second-factors": ("root",),
    "users reset-password": ("root", "--password-stdin"),
}


@dataclass(frozen=True)
class DeclaredCommand:
    name: str  # for example "groups list"
    options: frozenset[str]


def list_commands() -> list[DeclaredCommand]:
    return list(_walk(build_app([]), ""))


def _walk(app: App, prefix: str) -> Iterator[DeclaredCommand]:
    for name in app:
        if name.startswith("-"):
            continue
        command = app[name]
        has_subcommands = any(not each.startswith("-") for each in command)
        if has_subcommands:
            yield from _walk(command, f"{prefix}{name} ")
        if not has_subcommands or command.default_command is not None:
            arguments = command.assemble_argument_collection()
            options = frozenset(option for argument in arguments for option in argument.names)
            yield DeclaredCommand(f"{prefix}{name}", options)


def build_arguments(name: str, organisation: str) -> tuple[str, ...]:
    """The arguments of a call with --json."""
    arguments = (READING_ARGUMENTS | CHANGING_ARGUMENTS)[name]
    return (*name.split(), *arguments, "--organisation", organisation, "--json")
