"""The portal: what a customer sees of its costs and invoices."""

from collections.abc import Iterator
from pathlib import Path

from nimbill_client.bodies import (
    AccountGroup,
    AccountGroupCreate,
    AccountUsage,
    CustomerInvoice,
    CustomerInvoiceHead,
    Dashboard,
    Me,
    TagUsage,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import BilledVendor
from nimbill_client.roles import Roles
from nimbill_client.users import Users

PORTAL = "/m/portal"
GROUPS_PATH = f"{PORTAL}/groups"
INVOICE_PATH = f"{PORTAL}/invoices/{{month}}/{{vendor}}"
FILE_SECONDS_MAX = 600  # the service prints what is not printed yet


class Portal:
    """Uses portal tokens, which differ from those of all other methods.

    A period is one `month` (2026-09), or the months from `first` to `last`; by default the current
    month. A customer sees its own company; users of the organisation choose one by `company_id`.
    `roles` and `users` are those of the customer.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.roles = Roles(connection)
        self.users = Users(connection)

    def read_me(self) -> Me:
        """Read the company, the display flags and the permissions of the caller."""
        return self._connection.fetch(Me, Call(method="GET", path=f"{PORTAL}/me"))

    def read_dashboard(
        self,
        *,
        first: str | None = None,
        last: str | None = None,
        company_id: str | None = None,
    ) -> Dashboard:
        """Read monthly totals, the largest costs, the forecast, anomalies and budgets."""
        query = {"from": first, "to": last, "company_id": company_id}
        call = Call(method="GET", path=f"{PORTAL}/dashboard", query=query)
        return self._connection.fetch(Dashboard, call)

    def read_account_usage(
        self,
        month: str | None = None,
        *,
        first: str | None = None,
        last: str | None = None,
        company_id: str | None = None,
    ) -> AccountUsage:
        """Read usage by month, account and service."""
        query = _build_period(month, first, last, company_id)
        call = Call(method="GET", path=f"{PORTAL}/usage/account", query=query)
        return self._connection.fetch(AccountUsage, call)

    def read_tag_usage(
        self,
        key: str,
        month: str | None = None,
        *,
        first: str | None = None,
        last: str | None = None,
        company_id: str | None = None,
    ) -> TagUsage:
        """Read usage by month, value of the tag and service."""
        query = {"key": key, **_build_period(month, first, last, company_id)}
        call = Call(method="GET", path=f"{PORTAL}/usage/tag", query=query)
        return self._connection.fetch(TagUsage, call)

    def list_account_groups(self, company_id: str | None = None) -> list[AccountGroup]:
        """List the account groups by name."""
        call = Call(method="GET", path=GROUPS_PATH, query={"company_id": company_id})
        return self._connection.fetch(list[AccountGroup], call)

    def create_account_group(
        self, group: AccountGroupCreate, *, key: str | None = None
    ) -> AccountGroup:
        call = Call(method="POST", path=GROUPS_PATH, body=group, key=key)
        return self._connection.fetch(AccountGroup, call)

    def list_invoices(self, company_id: str | None = None) -> Iterator[CustomerInvoiceHead]:
        """Iterate over the invoices, the newest month first."""

        def read_page(page: dict[str, int]) -> list[CustomerInvoiceHead]:
            query = {"company_id": company_id, **page}
            call = Call(method="GET", path=f"{PORTAL}/invoices", query=query)
            return self._connection.fetch(list[CustomerInvoiceHead], call)

        return iterate_pages(read_page)

    def read_invoice(
        self, month: str, vendor: BilledVendor, company_id: str | None = None
    ) -> CustomerInvoice:
        """Read an invoice as it is printed."""
        ids, query = {"month": month, "vendor": vendor}, {"company_id": company_id}
        call = Call(method="GET", path=INVOICE_PATH, ids=ids, query=query)
        return self._connection.fetch(CustomerInvoice, call)

    def download_invoice_pdf(
        self, month: str, vendor: BilledVendor, file: Path, company_id: str | None = None
    ) -> Path:
        """Write an invoice as PDF."""
        call = Call(
            method="GET",
            path=f"{INVOICE_PATH}/pdf",
            ids={"month": month, "vendor": vendor},
            query={"company_id": company_id},
            seconds_max=FILE_SECONDS_MAX,
        )
        return self._connection.download(call, file)


def _build_period(
    month: str | None, first: str | None, last: str | None, company_id: str | None
) -> dict[str, str | int | None]:
    return {"month": month, "from": first, "to": last, "company_id": company_id}
