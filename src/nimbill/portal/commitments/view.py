"""What a caller sees of reservations and savings plans: those of the visible accounts."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.errors import NotPermitted
from nimbill.portal.view import PortalView, load_view


async def load_commitment_view(
    db: AsyncConnection, caller: Caller, company_id: str | None
) -> PortalView:
    """Refuse users who see certain tags only: vendors do not tag reservations."""
    view = await load_view(db, caller, company_id)
    if view.tags:
        raise NotPermitted(
            "narrowed_caller",
            "Reservations and savings plans have no tags, so users restricted to certain tags "
            "cannot see them. Ask a user without this restriction.",
        )
    return view
