"""The client of one organisation."""

import os
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType

import httpx

from nimbill_client.approvals import Approvals
from nimbill_client.archive import Archive
from nimbill_client.audit import Audit
from nimbill_client.billing_groups import BillingGroups
from nimbill_client.clock import Clock
from nimbill_client.cloud_accounts import CloudAccounts
from nimbill_client.connection import PORTAL_TOKEN_PATH, Connection, ConnectionSettings
from nimbill_client.contacts import Contacts
from nimbill_client.corrections import Corrections
from nimbill_client.costs import Costs
from nimbill_client.credentials import Credentials
from nimbill_client.credit_notes import CreditNotes
from nimbill_client.deliveries import Deliveries
from nimbill_client.imports import Imports
from nimbill_client.invoice_templates import InvoiceTemplates
from nimbill_client.invoices import Invoices
from nimbill_client.months import Months
from nimbill_client.organisation_settings import Settings
from nimbill_client.payments import Payments
from nimbill_client.portal import Portal
from nimbill_client.portal_logins import PortalLogins
from nimbill_client.projects import Projects
from nimbill_client.recalculation import Recalculation
from nimbill_client.reserved_instances import ReservedInstances
from nimbill_client.roles import Roles
from nimbill_client.users import Users
from nimbill_client.version import VERSION
from nimbill_client.webhooks import Webhooks

VARIABLES = {
    "url": "NIMBILL_URL",
    "client_id": "NIMBILL_CLIENT_ID",
    "client_secret": "NIMBILL_CLIENT_SECRET",
    "username": "NIMBILL_USERNAME",
    "password": "NIMBILL_PASSWORD",
}


class Client:
    """Talks to a Nimbill service as an API client, or as a user of the organisation or a customer.

    It obtains and renews its tokens, repeats what can be repeated, and can be shared by threads.
    `timeout` limits one attempt and `retry_seconds` all attempts of a request, both in seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        client_id: str,
        client_secret: str,
        username: str | None = None,
        password: str | None = None,
        timeout: int = 60,
        retry_seconds: int = 60,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        settings = ConnectionSettings(
            timeout=timeout,
            retry_seconds=retry_seconds,
            user_agent=f"nimbill-client/{VERSION}",
            transport=transport,
            clock=clock or Clock(),
        )
        credentials = Credentials(client_id, client_secret, username, password)
        connection = self._connection = Connection(url, credentials, settings)
        self.accounts = CloudAccounts(connection)
        self.archive = Archive(connection)
        self.audit = Audit(connection)
        self.billing_groups = BillingGroups(connection)
        self.contacts = Contacts(connection)
        self.costs = Costs(connection)
        self.corrections = Corrections(connection)
        self.credit_notes = CreditNotes(connection)
        self.deliveries = Deliveries(connection)
        self.imports = Imports(connection)
        self.invoice_templates = InvoiceTemplates(connection)
        self.invoices = Invoices(connection)
        self.months = Months(connection)
        self.payments = Payments(connection)
        self._portal_connection = Connection(
            url, credentials, replace(settings, token_path=PORTAL_TOKEN_PATH)
        )
        self.portal = Portal(self._portal_connection)
        self.portal_logins = PortalLogins(connection)
        self.projects = Projects(connection)
        self.recalculation = Recalculation(connection)
        self.reserved_instances = ReservedInstances(connection)
        self.roles = Roles(connection)
        self.settings = Settings(connection)
        self.users = Users(connection)
        self.approvals = Approvals(connection)
        self.webhooks = Webhooks(connection)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Client":
        """Read the address and the credentials from variables such as NIMBILL_CLIENT_ID."""
        given = {name: environment.get(variable) for name, variable in VARIABLES.items()}
        missing = [
            VARIABLES[name] for name in ("url", "client_id", "client_secret") if not given[name]
        ]
        if missing:
            raise ValueError(f"Set the environment variables {', '.join(missing)}.")
        return cls(
            given["url"] or "",
            client_id=given["client_id"] or "",
            client_secret=given["client_secret"] or "",
            username=given["username"] or None,
            password=given["password"] or None,
        )

    def close(self) -> None:
        self._connection.close()
        self._portal_connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._connection.url!r})"
