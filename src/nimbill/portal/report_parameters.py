"""The query parameters that the reports of the portal have in common."""

from typing import Annotated

from litestar.params import QueryParameter

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
