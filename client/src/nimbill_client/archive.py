"""The archive: issued invoices and credit notes, found by date, amount and counterparty."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from nimbill_client.bodies import ArchivedDocument, ArchiveKey
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages

PATH = "/m/core/archive"


class Archive:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def search(
        self,
        *,
        date_from: str | None = None,
        date_to: str | None = None,
        amount_from: Decimal | None = None,
        amount_to: Decimal | None = None,
        counterparty: str | None = None,
        document_kind: str | None = None,
    ) -> Iterator[ArchivedDocument]:
        """The newest first. Both ends of a range are included; amounts include tax."""
        filters = _format_filters(
            date_from=date_from,
            date_to=date_to,
            amount_from=amount_from,
            amount_to=amount_to,
            counterparty=counterparty,
            document_kind=document_kind,
        )
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[ArchivedDocument], Call(method="GET", path=PATH, query={**filters, **page})
            )
        )

    def export(
        self,
        file: Path,
        *,
        date_from: str | None = None,
        date_to: str | None = None,
        amount_from: Decimal | None = None,
        amount_to: Decimal | None = None,
        counterparty: str | None = None,
        document_kind: str | None = None,
    ) -> Path:
        """Write the same documents as a signed zip file, for `nimbill archive verify`."""
        filters = _format_filters(
            date_from=date_from,
            date_to=date_to,
            amount_from=amount_from,
            amount_to=amount_to,
            counterparty=counterparty,
            document_kind=document_kind,
        )
        return self._connection.download(
            Call(method="GET", path=f"{PATH}/zip", query=filters), file
        )

    def read_key(self) -> ArchiveKey:
        return self._connection.fetch(ArchiveKey, Call(method="GET", path=f"{PATH}/key"))


def _format_filters(**filters: str | Decimal | None) -> dict[str, str | int | None]:
    return {
        name: f"{value:f}" if isinstance(value, Decimal) else value
        for name, value in filters.items()
    }
