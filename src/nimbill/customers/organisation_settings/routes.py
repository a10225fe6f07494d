"""HTTP routes of the organisation settings; paths are relative to /m/core."""

from litestar.params import JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.customers.organisation_settings import operations, records
from nimbill.customers.organisation_settings.bodies import (
    OrganisationSettings,
    OrganisationSettingsChange,
)
from nimbill.customers.organisation_settings.operations import load_settings_version
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, get, put


@get(
    "/settings",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadSettings, RoleAction.ModifySettings],
    basis=chosen("organisation-settings"),
    versioned=load_settings_version,
)
async def read_settings(caller: RequestCaller, db: Transaction) -> OrganisationSettings:
    """Show the settings of the organisation."""
    return await records.load_settings(db, caller.scope)


@put(
    "/settings",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifySettings],
    basis=chosen("organisation-settings"),
    versioned=load_settings_version,
    audited="settings",
    changes=Changes.shared_records,
)
async def change_settings(
    data: JSONBody[OrganisationSettingsChange],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> OrganisationSettings:
    """Change the settings that are sent; the response shows all settings."""
    return await operations.change_settings(
        db, caller.scope, data, resources.hooks.find_used_vendors
    )


ROUTES = [read_settings, change_settings]
