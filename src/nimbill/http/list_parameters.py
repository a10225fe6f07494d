"""The search parameter of lists, and the header with the number of all records."""

from collections.abc import Callable
from typing import Annotated, Any

from litestar import Request
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from nimbill.access.request_context import get_request_context
from nimbill.foundation import calendar_month

# See docs/choices.md, list-pages.

TOTAL_HEADER = "X-Total-Count"
SEARCH_LENGTH_MAX = 200

Search = Annotated[
    str | None,
    QueryParameter(
        min_length=1,
        max_length=SEARCH_LENGTH_MAX,
        pattern=r"^[^\x00]*$",
        description=f"a text of 1 to {SEARCH_LENGTH_MAX} characters, in any letter case",
    ),
]

QueryMonth = Annotated[
    str | None,
    QueryParameter(
        min_length=calendar_month.LENGTH,
        max_length=calendar_month.LENGTH,
        pattern=calendar_month.PATTERN,
        description=calendar_month.RULE,
    ),
]

WithDetails = Annotated[
    bool, QueryParameter(description="true adds the fields that only a list with details has")
]

# A handler calls it with the number of records on all pages.
ReportTotal = NamedDependency[Callable[[int], None]]


async def provide_report_total(request: Request[Any, Any, Any]) -> Callable[[int], None]:
    """Return a function that puts the total into the header of the response."""
    headers = get_request_context(request.scope).response_headers

    def report_total(total: int) -> None:
        headers[TOTAL_HEADER] = str(total)

    return report_total
