"""`nimbill agent`: what runs on a launched instance, as a command."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console

from nimbill.legacy.agent_program import (
    METADATA_ADDRESS,
    Agent,
    TokenRefused,
    Unanswered,
    UnusableConfig,
    config_from,
)

UNUSABLE = 2  # the configuration
REFUSED = 3  # the token does not stand: the stack is gone, or never was
UNANSWERED = 4  # the service could not be reached

TOKEN = "NIMBILL_AGENT_TOKEN"  # noqa: S105  # the name of a setting

Switch = Annotated[bool, Parameter(negative="")]
Seconds = Annotated[float, Parameter(validator=Number(gt=0, lte=3_600))]


def agent(
    *,
    config: Path | None = None,
    address: str | None = None,
    stack_id: str | None = None,
    flag: str | None = None,
    instance_id: str | None = None,
    metadata_address: str = METADATA_ADDRESS,
    notice_file: Path | None = None,
    poll_seconds: Seconds = 30,
    patience_seconds: Seconds = 300,
    once: Switch = False,
) -> None:
    """Run the agent of an instance until SIGTERM: it registers, reports and follows its layer.

    Its token stands in the configuration file or in NIMBILL_AGENT_TOKEN, never in an option.
    Exit codes: 2 unusable configuration, 3 the token does not stand, 4 the service is away.

    Parameters
    ----------
    config
        A JSON file with address, stack_id, flag and token, as an instance is launched with it.
    address
        Of the legacy API; the options win over the file.
    stack_id
        The stack this instance belongs to.
    flag
        The layer of the stack.
    instance_id
        Else it is asked of the instance's metadata.
    metadata_address
        Where the instance's metadata are; empty where there are none.
    notice_file
        A file whose appearance is a termination notice, for machines without metadata.
    poll_seconds
        How often to look for a changed configuration and for a notice.
    patience_seconds
        How long to ask a service that does not answer.
    once
        Register, report and fetch the configuration once, then leave without a word.
    """
    options = {
        "address": address,
        "stack_id": stack_id,
        "flag": flag,
        "instance_id": instance_id,
        "notice_file": notice_file,
        "metadata_address": metadata_address.rstrip("/"),
        "poll_seconds": poll_seconds,
        "patience_seconds": patience_seconds,
    }
    _begin(_read(config), options, once=once)


def _begin(of_file: dict[str, Any], options: dict[str, Any], *, once: bool) -> None:
    """What an option says wins over the file, and so does the token of the environment."""
    options = {**options, "token": os.environ.get(TOKEN) or None}
    given = {name: value for name, value in options.items() if value is not None}
    try:
        _run(Agent(config_from(of_file | given)), once=once)
    except UnusableConfig as error:
        _end(UNUSABLE, str(error))
    except TokenRefused as error:
        _end(REFUSED, f"the token of the stack does not stand: {error}")
    except Unanswered as error:
        _end(UNANSWERED, str(error))


def _run(one: Agent, *, once: bool) -> None:
    if once:
        one.boot()
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: one.stop())
    one.run()


def _read(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        found = json.loads(file.read_bytes())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        _end(UNUSABLE, f"{file} must hold a JSON object")
    return {name: found[name] for name in ("address", "stack_id", "flag", "token") if name in found}


def _end(code: int, sentence: str) -> NoReturn:
    problems = Console(stderr=True, highlight=False)
    problems.print(f"nimbill: {sentence}", style="red", markup=False, soft_wrap=True)
    sys.exit(code)
