"""The version of the organisation settings."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.organisation_settings.records import load_settings, lock_settings
from nimbill.http.versions import ObjectVersion

# See docs/choices.md, object-versions.


async def load_settings_version(
    db: AsyncConnection, caller: Caller, _path: Mapping[str, Any], lock: bool
) -> ObjectVersion:
    settings = await (lock_settings if lock else load_settings)(db, caller.scope)
    return ObjectVersion(settings, "settings")
