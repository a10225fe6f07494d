"""The parts that the demo's shell commands are made of."""

from typing import NamedTuple

from nimbill.demo.logins import DemoLogin

EXTRACT_ACCESS = """sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'"""


class SampleCommand(NamedTuple):
    purpose: str
    line: str


def client_options(login: DemoLogin, option: str) -> str:
    """The client credentials as curl options; `option` is `-d` or `-F`."""
    return f"{option} client_id={login.client_id} {option} client_secret={login.client_secret}"
