"""The import roots of one organisation, from which its callers may import."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.ingestion.import_roots import roots_of_organisation
from nimbill.database.tenant_lookup import has_other_organisations
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.settings import Settings

# See docs/choices.md, import-roots.


async def load_import_roots(
    db: AsyncConnection, settings: Settings, scope: TenantScope
) -> list[str]:
    """Shared roots count only while there is a single organisation."""
    is_only_one = not await has_other_organisations(db, scope)
    return roots_of_organisation(
        settings.import_roots, scope.organisation_id, is_only_one=is_only_one
    )


def describe_allowed_source(settings: Settings, roots: Sequence[str]) -> str:
    """The rule for `source`. It names no folder of the server."""
    if len(roots) == len(settings.import_roots):
        return "a path or address under an allowed root"
    return (
        "a path or address under an allowed root; roots that several organisations share are not "
        "allowed, so the operator must add {organisation} to them"
    )
