"""Reset a forgotten password with a mailed link, without telling which names exist."""

import asyncio
from datetime import timedelta

import structlog

from nimbill.access.login_failures import forget_attempts
from nimbill.access.passwords import hash_password
from nimbill.access.request_context import Resources
from nimbill.audit import records as audit
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.errors import Invalid
from nimbill.foundation.product import Product
from nimbill.identity.login.bodies import PasswordResetConfirm, PasswordResetRequest
from nimbill.identity.login.browser_requests import find_scope
from nimbill.identity.login.grants import is_product_allowed
from nimbill.identity.users import password_link_records as links
from nimbill.identity.users import records as users
from nimbill.identity.users.password_links import LinkPurpose, create_link, hash_link_token
from nimbill.mail.delivery import queue_message
from nimbill.mail.messages import password_forgotten

LINKS_PER_HOUR_MAX = 3
WAIT_SECONDS = 0.1  # the response does not wait longer, whatever the work needs

log = structlog.get_logger()


async def request_link(resources: Resources, product: Product, body: PasswordResetRequest) -> None:
    """Start the work and return after a fixed time, so that it shows in no response.

    The worker keeps a reference to the task until it ends.
    """
    task = asyncio.create_task(_send_link_or_log(resources, product, body))
    resources.background_tasks.add(task)
    task.add_done_callback(resources.background_tasks.discard)
    await asyncio.wait({task}, timeout=WAIT_SECONDS)


async def _send_link_or_log(
    resources: Resources, product: Product, body: PasswordResetRequest
) -> None:
    try:
        await _send_link(resources, product, body)
    except Exception as error:
        log.error("password_link_failed", exc_info=error)


async def _send_link(resources: Resources, product: Product, body: PasswordResetRequest) -> None:
    """Mail a link to the user of this name or address, at most three in an hour."""
    scope = await find_scope(resources, body.organisation)
    if scope is None:
        return
    async with transaction(resources.engine, scope.organisation_id) as db:
        user = await users.find_user_by_name_or_email(db, scope, body.username)
        if user is None or user.email is None or not is_product_allowed(product, user.kind):
            return
        # Two requests at once must not both be the third.
        await users.lock_user(db, scope, user.user_id)
        sent = await links.count_links(
            db,
            scope,
            user.user_id,
            purpose=LinkPurpose.reset,
            since=clock.now() - timedelta(hours=1),
        )
        if sent >= LINKS_PER_HOUR_MAX:
            return
        link = await create_link(
            db, scope, resources, user, product=product, purpose=LinkPurpose.reset
        )
        message = password_forgotten(
            to=user.email,
            username=user.username,
            link=link,
            language=await resources.hooks.find_language(db, scope, user),
        )
        await queue_message(db, scope, resources.encryptor, message)


async def choose_password(
    resources: Resources, product: Product, body: PasswordResetConfirm, *, request_id: str
) -> None:
    """Set the password of the link's user once, and revoke all tokens of the user.

    The link is checked before the password is hashed, because hashing is expensive, and used up
    after it, because hashing holds no connection.
    """
    scope = await find_scope(resources, body.organisation)
    if scope is None:
        raise _link_invalid()
    token_hash = hash_link_token(body.token)
    async with transaction(resources.engine, scope.organisation_id) as db:
        if not await links.find_user_of_link(
            db, scope, token_hash, product=product, at=clock.now()
        ):
            raise _link_invalid()
    password_hash = await hash_password(body.password, resources.encryptor)
    await _use_link(resources, scope, product, token_hash, password_hash, request_id)


async def _use_link(
    resources: Resources,
    scope: TenantScope,
    product: Product,
    token_hash: bytes,
    password_hash: str,
    request_id: str,
) -> None:
    async with transaction(resources.engine, scope.organisation_id) as db:
        user = await links.find_user_of_link(db, scope, token_hash, product=product, at=clock.now())
        if user is None or not await links.use_link(db, scope, token_hash):
            raise _link_invalid()
        await forget_attempts(db, scope, user)
        await users.set_password(db, scope, user.user_id, password_hash)
        await links.delete_links_of_user(db, scope, user.user_id)
        await audit.append_entry(
            db,
            actor=user.user_id,
            actor_name=user.username,
            action="choose_password",
            resource=f"user/{user.user_id}/password",
            request_id=request_id,
            sent={"product": str(product)},
        )


def _link_invalid() -> Invalid:
    """One response for all causes, so that it does not reveal which links exist."""
    return Invalid(
        "link_invalid",
        "The link was used before, has expired or is incomplete. Request a new one on the sign-in "
        "page.",
    )
