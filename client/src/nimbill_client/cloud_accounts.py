"""Customers' cloud accounts, which belong to billing groups."""

from collections.abc import Iterator

from nimbill_client.bodies import (
    AccountsCreated,
    CloudAccountCreate,
    CloudAccountRecord,
    CloudAccountUpdate,
    Success,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import BilledVendor

PATH = "/m/core/accts"


class CloudAccounts:
    """`customer_id` is the vendor's number of the account, `account_id` that of its payer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self, vendor: BilledVendor) -> Iterator[CloudAccountRecord]:
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[CloudAccountRecord],
                Call(method="GET", path=PATH, query={"vendor": vendor, **page}),
            )
        )

    def create(self, account: CloudAccountCreate, *, key: str | None = None) -> None:
        self._connection.fetch(Success, Call(method="POST", path=PATH, body=account, key=key))

    def create_from_csv(self, content: bytes, *, key: str | None = None) -> AccountsCreated:
        """Create an account for each line of a CSV file, or none if one line is refused."""
        call = Call(method="POST", path="/m/core/accts/csv", csv=content, key=key)
        return self._connection.fetch(AccountsCreated, call)

    def update(
        self, customer_id: str, account: CloudAccountUpdate, *, key: str | None = None
    ) -> None:
        call = Call(
            method="PUT",
            path="/m/core/accts/{customer_id}/edit",
            ids={"customer_id": customer_id},
            body=account,
            key=key,
        )
        self._connection.fetch(Success, call)

    def delete(
        self, vendor: BilledVendor, customer_id: str, account_id: str, *, key: str | None = None
    ) -> None:
        """Existing invoices still show the account."""
        call = Call(
            method="DELETE",
            path="/m/core/accts/{vendor}/{both_ids}",
            ids={"vendor": vendor, "both_ids": f"{customer_id}|{account_id}"},
            key=key,
        )
        self._connection.fetch(Success, call)
