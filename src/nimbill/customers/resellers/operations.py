"""What may be done with reseller accounts."""

from msgspec import UNSET
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.passwords import generate_password, hash_password
from nimbill.access.request_context import Resources
from nimbill.customers.billing_groups.records import billing_group_visible
from nimbill.customers.organisation_settings.records import settings_of
from nimbill.customers.resellers import records
from nimbill.customers.resellers.bodies import (
    InputType,
    ResellerChanged,
    ResellerCreate,
    ResellerMeta,
    ResellerPassword,
)
from nimbill.customers.resellers.meta_flags import FLAGS
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Language, UserKind
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import delete_user_and_clients
from nimbill.mail.delivery import queue_message
from nimbill.mail.messages import Message, account_created, password_changed


async def create_reseller(
    db: AsyncConnection, scope: TenantScope, resources: Resources, body: ResellerCreate
) -> ResellerChanged:
    """A login of its own for a billing group; its e-mail address is its name."""
    if not await billing_group_visible(db, scope, body.company_id):
        refuse_if([Violation("company_id", "an existing billing group")])
    if await users.taken_names(db, scope, username=body.email, email=body.email):
        raise Conflict("email_taken", "this e-mail address is already in use")
    password, made = _password(body)
    user_id = new_id("usr")
    await users.add_user(
        db,
        scope,
        user_id=user_id,
        root_user=user_id,
        kind=UserKind.reseller,
        username=body.email,
        email=body.email,
        notification_email=body.notification,
        password_hash=await hash_password(password, resources.sealer),
    )
    await records.add_reseller(db, scope, user_id, body.company_id, {**FLAGS, **body.meta})
    if body.notification:
        reseller = await _existing(db, scope, user_id)
        await _write_to(db, scope, resources, reseller, made, changed=False)
    return _changed(user_id, None if body.notification else made)


async def change_password(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    user_id: str,
    body: ResellerPassword,
) -> ResellerChanged:
    """Every token of the account ends at once."""
    reseller = await _existing(db, scope, user_id)
    password, made = _password(body)
    password_hash = await hash_password(password, resources.sealer)
    await users.set_password(db, scope, user_id, password_hash)
    if body.notification:
        await _write_to(db, scope, resources, reseller, made, changed=True)
    return _changed(user_id, None if body.notification else made)


async def change_meta(
    db: AsyncConnection, scope: TenantScope, user_id: str, body: ResellerMeta
) -> None:
    """Flags not sent keep their value."""
    reseller = await _existing(db, scope, user_id)
    await records.change_meta(db, scope, user_id, {**reseller.meta, **body.meta})


async def delete_reseller(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    """Its subusers, clients and tokens go with it."""
    await _existing(db, scope, user_id)
    for subuser in await users.list_subusers(db, scope, user_id):
        await delete_user_and_clients(db, scope, subuser.user_id)
    await delete_user_and_clients(db, scope, user_id)


async def _existing(db: AsyncConnection, scope: TenantScope, user_id: str) -> Row:
    reseller = await records.find_reseller(db, scope, user_id)
    if reseller is None:
        raise not_found()
    return reseller


def _changed(user_id: str, password: str | None) -> ResellerChanged:
    return ResellerChanged(user_id=user_id, password=UNSET if password is None else password)


def _password(body: ResellerCreate | ResellerPassword) -> tuple[str, str | None]:
    """The password, and again where we made it."""
    if body.input_type is InputType.Auto:
        made = generate_password()
        return made, made
    assert body.password is not None, "the body's rules ask for one"
    return body.password, None


async def _write_to(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    reseller: Row,
    password: str | None,
    *,
    changed: bool,
) -> None:
    letter: Message = (password_changed if changed else account_created)(
        to=reseller.email,
        company=reseller.company_name,
        address=f"{resources.settings.link_url}/portal",
        language=Language(reseller.language or (await settings_of(db, scope)).language),
        password=password,
    )
    await queue_message(db, scope, resources.sealer, letter)
