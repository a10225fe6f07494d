"""Changes to saved filters: the checks in order, then the change."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import new_id
from nimbill.identity.users.records import lock_user
from nimbill.portal.saved_filters import records
from nimbill.portal.saved_filters.bodies import SavedFilter, SavedFilterCreate

FILTERS_MAX = 100


async def create_filter(
    db: AsyncConnection, caller: Caller, body: SavedFilterCreate
) -> SavedFilter:
    """Save a filter. The user is locked, so that two requests at once cannot exceed the limit."""
    await lock_user(db, caller.scope, caller.user_id)
    if await records.count_filters(db, caller.scope, caller.user_id) >= FILTERS_MAX:
        raise Conflict(
            "too_many_saved_filters",
            f"A user has at most {FILTERS_MAX} saved filters. Delete some first.",
        )
    saved = SavedFilter(filter_id=new_id("flt"), name=body.name, content=body.content)
    await records.add_filter(db, caller.scope, caller.user_id, saved)
    return saved


async def delete_filter(db: AsyncConnection, caller: Caller, filter_id: str) -> None:
    """A filter of another user does not exist for the caller."""
    if not await records.delete_filter(db, caller.scope, caller.user_id, filter_id):
        raise not_found()
