"""Pages that show one company: the caller's own, or the one that it chooses."""

from typing import Annotated, NamedTuple

from litestar.params import QueryParameter
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, rule_violations_error
from nimbill.portal.view import PortalView, load_view

basis = chosen("portal-one-company")

ChosenCompany = Annotated[
    str | None,
    QueryParameter(description="a visible company; required for users who see several"),
]


class CompanyView(NamedTuple):
    company_id: str
    view: PortalView


async def load_one_company(
    db: AsyncConnection, caller: Caller, company_id: str | None
) -> CompanyView:
    """Load the view of the company; refuse to choose for a caller who may see several."""
    view = await load_view(db, caller, company_id)
    company_ids = view.scope.billing_groups
    if company_ids is None or len(company_ids) != 1:
        raise rule_violations_error(
            [Violation("company_id", "required for users who see several companies")]
        )
    (only_company_id,) = company_ids
    return CompanyView(only_company_id, view)
