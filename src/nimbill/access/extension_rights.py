"""Rights that an extension of the API defines, besides the role actions of core and portal."""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.user_kind import UserKind

# See docs/choices.md, no-privilege-escalation.


class ExtensionRights(Protocol):
    """The rights of one extension; the caller and the user are of the same organisation."""

    async def cover(
        self, db: AsyncConnection, caller: Caller, user_id: str, kind: UserKind
    ) -> bool:
        """Return whether the user can do nothing that the caller cannot; False if unsure."""

    async def grant_to_new_user(self, db: AsyncConnection, creator: Caller, user_id: str) -> None:
        """Limit a user who was just created to the rights of its creator."""


async def all_cover(
    rights: Sequence[ExtensionRights],
    db: AsyncConnection,
    caller: Caller,
    user_id: str,
    kind: UserKind,
) -> bool:
    for each in rights:
        if not await each.cover(db, caller, user_id, kind):
            return False
    return True
