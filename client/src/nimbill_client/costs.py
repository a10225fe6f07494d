"""The vendors' costs of a month."""

from collections.abc import Iterator
from decimal import Decimal

from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import Record, Vendor

PATH = "/m/core/costs/{month}"


class CostSum(Record, frozen=True, kw_only=True):
    vendor: Vendor
    customer_id: str = ""
    company_id: str | None = None
    service: str = ""
    marketplace: bool = False
    tag_value: str | None = None
    tag_value_2: str | None = None
    line_type: str = ""
    kind: str = ""
    day: str = ""
    currency: str
    cost: Decimal
    lines: int


class CostTotal(Record, frozen=True, kw_only=True):
    vendor: Vendor
    currency: str
    cost: Decimal
    lines: int


class MonthCosts(Record, frozen=True, kw_only=True):
    month: str
    vendor: Vendor | None
    provisional: bool
    parked: bool
    rows: list[CostSum]
    totals: list[CostTotal]


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
