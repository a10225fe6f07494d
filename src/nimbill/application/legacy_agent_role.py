"""Provides the role of agents to routes of version 3, which has no settings of its own."""

from nimbill.customers.organisation_settings.records import load_settings
from nimbill.http.routing import RequestCaller, Transaction


async def provide_agent_role(caller: RequestCaller, db: Transaction) -> str | None:
    """The role that temporary credentials of agents belong to."""
    return (await load_settings(db, caller.scope)).agent_role_arn
