"""The vendors' costs of a month."""

from collections.abc import Iterator

from nimbill_client.bodies import CostSum, MonthCosts
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import Vendor

PATH = "/m/core/costs/{month}"


class Costs:
    """Exact sums of the imported costs, before discounts, fees and taxes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, month: str, vendor: Vendor | None = None, *, by: str = "account") -> MonthCosts:
        """Read all sums; `by` names what they are grouped by, separated by commas."""
        return self._read(month, vendor, {"by": by})

    def list_sums(
        self, month: str, vendor: Vendor | None = None, *, by: str = "account"
    ) -> Iterator[CostSum]:
        """Read the sums page by page, for groupings with many rows."""
        return iterate_pages(lambda page: self._read(month, vendor, {"by": by, **page}).rows)

    def _read(self, month: str, vendor: Vendor | None, query: dict[str, str | int]) -> MonthCosts:
        call = Call(
            method="GET", path=PATH, ids={"month": month}, query={"vendor": vendor, **query}
        )
        return self._connection.fetch(MonthCosts, call)
