"""Pages that show one company: the caller's own, or the one that it chooses."""

from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.portal.view import PortalView, load_view, require_company

# See docs/choices.md, portal-one-company.


class CompanyView(NamedTuple):
    company_id: str
    view: PortalView


async def load_one_company(
    db: AsyncConnection, caller: Caller, company_id: str | None
) -> CompanyView:
    """Load the view of the company; refuse to choose for a caller who may see several."""
    view = await load_view(db, caller, company_id)
    return CompanyView(require_company(view.scope), view)
