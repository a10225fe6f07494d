"""Every table of the service, gathered for migrations and for the tests that compare them."""

from nimbill import directory, idempotency
from nimbill.access import holdings, keyring
from nimbill.audit import records as audit
from nimbill.billing_groups import records as billing_groups
from nimbill.login import records as login
from nimbill.organisations import records as organisations
from nimbill.storage import metadata
from nimbill.users import records as users
from nimbill.work import records as work

__all__ = [
    "audit",
    "billing_groups",
    "directory",
    "holdings",
    "idempotency",
    "keyring",
    "login",
    "metadata",
    "organisations",
    "users",
    "work",
]
