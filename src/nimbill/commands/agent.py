"""`nimbill agent`: run the agent of a launched instance."""

import json
import os
import signal
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from nimbill.commands.console import Switch, exit_with_error, print_warning
from nimbill.foundation.setting_names import SETTING_NAMES as PRODUCT_SETTINGS
from nimbill.foundation.setting_names import find_unknown_settings
from nimbill.legacy.agent_program import (
    METADATA_ADDRESS,
    InvalidAgentConfig,
    ServiceUnreachable,
    StackAgent,
    TokenRefused,
    read_agent_config,
)
from nimbill.legacy.settings import SETTING_NAMES

# Exit codes.
INVALID_CONFIG = 2
INVALID_TOKEN = 3  # also when the stack was deleted
UNREACHABLE = 4

TOKEN_VARIABLE = "NIMBILL_AGENT_TOKEN"  # noqa: S105  # the name of a setting

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
    """Run the agent of an instance until SIGTERM: register, report, and follow the layer.

    The token is read from the configuration file or NIMBILL_AGENT_TOKEN, never from an option.
    Exit codes: 2 invalid configuration, 3 invalid token, 4 the service cannot be reached.

    Parameters
    ----------
    config
        JSON file with address, stack_id, flag and token, as given to a launched instance.
    address
        Address of the legacy API. Options take precedence over the file.
    stack_id
        The stack this instance belongs to.
    flag
        The layer of the stack.
    instance_id
        Id of the instance; read from the instance metadata by default.
    metadata_address
        Address of the instance metadata; empty if there is none.
    notice_file
        File whose existence is a termination notice, for machines without metadata.
    poll_seconds
        Interval between checks for a changed configuration and a notice.
    patience_seconds
        How long to retry while the service cannot be reached.
    once
        Register, report and fetch the configuration once, then exit without deregistering.
    """
    known = PRODUCT_SETTINGS | SETTING_NAMES | {TOKEN_VARIABLE}
    for sentence in find_unknown_settings(os.environ, known):
        print_warning(sentence)
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
    _start(_read_config(config), options, once=once)


def _start(file_config: dict[str, Any], options: dict[str, Any], *, once: bool) -> None:
    """Options and the token of the environment take precedence over the file."""
    options = {**options, "token": os.environ.get(TOKEN_VARIABLE) or None}
    overrides = {name: value for name, value in options.items() if value is not None}
    try:
        _run(StackAgent(read_agent_config(file_config | overrides)), once=once)
    except InvalidAgentConfig as error:
        exit_with_error(INVALID_CONFIG, str(error))
    except TokenRefused as error:
        exit_with_error(
            INVALID_TOKEN, f"The token of the stack is invalid or has been revoked: {error}"
        )
    except ServiceUnreachable as error:
        exit_with_error(UNREACHABLE, str(error))


def _run(agent: StackAgent, *, once: bool) -> None:
    if once:
        agent.boot()
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: agent.stop())
    agent.run()


def _read_config(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        config = json.loads(file.read_bytes())
    except ValueError:
        config = None
    if not isinstance(config, dict):
        exit_with_error(INVALID_CONFIG, f"{file} must contain a JSON object.")
    names = ("address", "stack_id", "flag", "token")
    return {name: config[name] for name in names if name in config}
