"""The query parameters that the reports of the portal have in common."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter

from nimbill.portal.report_months import list_report_months

Month = Annotated[str | None, QueryParameter(description="a month as yyyy-mm")]
FirstMonth = Annotated[str | None, QueryParameter(name="from", description="a month as yyyy-mm")]
LastMonth = Annotated[str | None, QueryParameter(name="to", description="a month as yyyy-mm")]
CompanyId = Annotated[
    str | None, QueryParameter(description="one of the visible companies; default: all of them")
]
OneCompanyId = Annotated[
    str | None,
    QueryParameter(description="a visible company; required if there is more than one"),
]


@dataclass(frozen=True)
class ReportSelection:
    """The months and the company of a report, as the caller has named them."""

    month: str | None
    first: str | None
    last: str | None
    company_id: str | None

    @cached_property
    def months(self) -> list[str]:
        return list_report_months(self.month, self.first, self.last)


async def provide_report_selection(
    month: Month = None,
    first: FirstMonth = None,
    last: LastMonth = None,
    company_id: CompanyId = None,
) -> ReportSelection:
    return ReportSelection(month, first, last, company_id)


Selection = NamedDependency[ReportSelection]
DEPENDENCIES = {"selection": Provide(provide_report_selection)}
