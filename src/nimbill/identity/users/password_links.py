"""Links with which a person chooses a password: after forgetting it, or when invited."""

import secrets
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from urllib.parse import urlencode

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.product import Product
from nimbill.identity.users import password_link_records as records


class LinkPurpose(StrEnum):
    reset = "reset"
    invitation = "invitation"


LIFETIMES = {
    LinkPurpose.reset: timedelta(hours=1),
    LinkPurpose.invitation: timedelta(days=7),
}
PAGES = {Product.core: "console", Product.portal: "portal"}


async def create_link(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    user: Row,
    *,
    product: Product,
    purpose: LinkPurpose,
) -> str:
    """Store a new link and return its address. The token is stored as a hash only.

    Organisation and token are in the fragment, which browsers send to no server.
    """
    token, at = secrets.token_urlsafe(32), clock.now()
    await records.add_link(
        db,
        scope,
        user,
        token_hash=hash_link_token(token),
        purpose=purpose,
        product=product,
        at=at,
        expire_time=at + LIFETIMES[purpose],
    )
    fragment = urlencode({"organisation": scope.organisation_id, "token": token})
    return f"{resources.settings.link_url}/{PAGES[product]}/choose-password#{fragment}"


def hash_link_token(token: str) -> bytes:
    return sha256(token.encode()).digest()
