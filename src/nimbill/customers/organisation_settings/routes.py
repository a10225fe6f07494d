"""An organisation's settings over HTTP; paths are relative to /m/core."""

import msgspec
from litestar.params import JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.customers.invoice_templates.records import invoice_template_exists
from nimbill.customers.organisation_settings import records
from nimbill.customers.organisation_settings.bodies import (
    OrganisationSettings,
    OrganisationSettingsChange,
)
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.http.routing import CallerOfRequest, Transaction, get, put


@get(
    "/settings",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadSettings, RoleAction.ModifySettings],
    basis=chosen("organisation-settings"),
)
async def read_settings(caller: CallerOfRequest, db: Transaction) -> OrganisationSettings:
    """The organisation's settings."""
    return await records.settings_of(db, caller.scope)


@put(
    "/settings",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifySettings],
    basis=chosen("organisation-settings"),
    audited="settings",
)
async def change_settings(
    data: JSONBody[OrganisationSettingsChange], caller: CallerOfRequest, db: Transaction
) -> OrganisationSettings:
    """Change the settings sent; the answer shows all of them."""
    template = data.invoice_template_id
    if template and not await invoice_template_exists(db, caller.scope, template):
        refuse_if([Violation("invoice_template_id", "an existing invoice template")])
    before = await records.settings_for_change(db, caller.scope)
    sent = {
        name: value for name, value in msgspec.structs.asdict(data).items() if value is not None
    }
    cleared = {name: None for name, value in sent.items() if value == ""}
    after = msgspec.structs.replace(before, **(sent | cleared))
    await records.change_settings(db, caller.scope, after)
    return after


ROUTES = [read_settings, change_settings]
