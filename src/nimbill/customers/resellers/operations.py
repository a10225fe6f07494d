"""Changes to reseller accounts: the checks in order, then the change."""

from collections.abc import Callable
from functools import partial

from msgspec import UNSET
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.login_failures import forget_attempts
from nimbill.access.passwords import generate_password, hash_password
from nimbill.access.request_context import Resources
from nimbill.customers.billing_groups.operations import require_company_id
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.customers.resellers import records
from nimbill.customers.resellers.bodies import (
    InputType,
    ResellerChanged,
    ResellerCreate,
    ResellerMeta,
    ResellerPassword,
)
from nimbill.customers.resellers.meta_flags import FLAGS, read_flags
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import new_id
from nimbill.foundation.language import Language
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import delete_user_and_clients
from nimbill.identity.users.password_links import LinkPurpose, create_link
from nimbill.mail.delivery import queue_message
from nimbill.mail.messages import Message, account_created, password_changed


async def create_reseller(
    db: AsyncConnection, scope: TenantScope, resources: Resources, body: ResellerCreate
) -> ResellerChanged:
    """Create the login of a billing group; the e-mail address is also the user name."""
    await require_company_id(db, scope, body.company_id)
    if await users.find_names_in_use(db, scope, username=body.email, email=body.email):
        raise Conflict("email_taken", "This e-mail address is already in use.")
    password, generated_password = _choose_password(body)
    user_id = new_id("usr")
    user = await users.add_user(
        db,
        scope,
        user_id=user_id,
        root_user=user_id,
        kind=UserKind.reseller,
        username=body.email,
        email=body.email,
        notification_email=body.notification,
        password_hash=await hash_password(password, resources.encryptor),
    )
    await records.add_reseller(
        db, scope, user_id, body.company_id, {**FLAGS, **read_flags(body.meta)}
    )
    if body.notification:
        reseller = await _require_reseller(db, scope, user_id)
        link = await create_link(
            db,
            scope,
            resources,
            user,
            product=Product.portal,
            purpose=LinkPurpose.invitation,
        )
        build_message = partial(account_created, link=link)
        await _notify(db, scope, resources, reseller, build_message, generated_password)
    return _build_response(user_id, None if body.notification else generated_password)


async def change_password(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    user_id: str,
    body: ResellerPassword,
) -> ResellerChanged:
    """Store a new password; this revokes every token and forgets wrong passwords."""
    reseller = await _require_reseller(db, scope, user_id)
    password, generated_password = _choose_password(body)
    password_hash = await hash_password(password, resources.encryptor)
    await forget_attempts(db, scope, reseller)
    await users.set_password(db, scope, user_id, password_hash)
    if body.notification:
        await _notify(db, scope, resources, reseller, password_changed, generated_password)
    return _build_response(user_id, None if body.notification else generated_password)


async def change_meta(
    db: AsyncConnection, scope: TenantScope, user_id: str, body: ResellerMeta
) -> None:
    """Change the flags that were sent; the others keep their value."""
    reseller = await _require_reseller(db, scope, user_id)
    await records.store_meta(db, scope, user_id, {**reseller.meta, **read_flags(body.meta)})


async def delete_reseller(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    """Delete the account with its subusers, clients and tokens."""
    await _require_reseller(db, scope, user_id)
    for subuser in (await users.list_subusers(db, scope, user_id)).rows:
        await delete_user_and_clients(db, scope, subuser.user_id)
    await delete_user_and_clients(db, scope, user_id)


async def _require_reseller(db: AsyncConnection, scope: TenantScope, user_id: str) -> Row:
    reseller = await records.lock_reseller(db, scope, user_id)
    if reseller is None:
        raise not_found()
    return reseller


def _build_response(user_id: str, password: str | None) -> ResellerChanged:
    return ResellerChanged(user_id=user_id, password=UNSET if password is None else password)


def _choose_password(body: ResellerCreate | ResellerPassword) -> tuple[str, str | None]:
    """Return the password and, only if it was generated, a copy to tell the reseller."""
    if body.input_type is InputType.Auto:
        generated = generate_password()
        return generated, generated
    assert body.password is not None, "the body check requires it"
    return body.password, None


async def _notify(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    reseller: Row,
    build_message: Callable[..., Message],
    generated_password: str | None,
) -> None:
    message = build_message(
        to=reseller.email,
        company=reseller.company_name,
        address=f"{resources.settings.link_url}/portal",
        language=Language(reseller.language or (await load_settings(db, scope)).language),
        password=generated_password,
    )
    await queue_message(db, scope, resources.encryptor, message)
