"""The demo as a client of the service: it uses `nimbill-client` like any other program."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from nimbill.demo.logins import DemoLogin, derive_password
from nimbill.foundation.errors import OperatorError
from nimbill_client import ApiError, Client, Conflict, LoginFailed

REQUEST_SECONDS_MAX = 300  # invoices or PDF files of a month, on a busy machine


class DemoError(OperatorError):
    """The demo cannot continue; the message says why and what to do."""


class DemoClient:
    """A client of one organisation; `folder` is the data folder of the demo."""

    def __init__(self, address: str, login: DemoLogin, folder: Path) -> None:
        self.address, self.login, self.folder = address, login, folder
        self.api = self._create_client()

    def sign_in_as(self, username: str) -> Client:
        """A client of one of the subusers; close it after use."""
        return self._create_client(username, derive_password(self.login, username))

    def _create_client(self, username: str | None = None, password: str | None = None) -> Client:
        return Client(
            self.address,
            client_id=self.login.client_id,
            client_secret=self.login.client_secret,
            username=username,
            password=password,
            timeout=REQUEST_SECONDS_MAX,
            retry_seconds=REQUEST_SECONDS_MAX,
            # A proxy that the environment names does not reach the service of this machine.
            transport=httpx.HTTPTransport(),
        )

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Turn a refusal into a message for the person who runs the demo."""
        try:
            yield
        except LoginFailed as error:
            raise DemoError(
                "The login stored in demo.json does not belong to the demo's database. Remove the "
                "demo's data folder to start again."
            ) from error
        except ApiError as error:
            raise DemoError(f"{error} See demo.log in the demo's data folder.") from error

    def company_ids(self) -> dict[str, str]:
        """The company_id of each billinggroup_id."""
        with self.explain_errors():
            groups = self.api.billing_groups.list_all()
            return {group.billinggroup_id: group.company_id for group in groups}


@contextmanager
def existing_allowed() -> Iterator[None]:
    """Accept that something exists already from an interrupted start."""
    with suppress(Conflict):
        yield
