"""Words used by more than one room."""

from enum import StrEnum


class Product(StrEnum):
    """What a token is issued for; also the namespace its role actions are looked up in."""

    core = "core"
    portal = "portal"
    legacy = "legacy"


class Language(StrEnum):
    ja = "ja"
    en = "en"


class Currency(StrEnum):
    jpy = "jpy"
    usd = "usd"


class UserKind(StrEnum):
    """A root user may do everything in its organisation, a subuser what its roles allow.

    A reseller account is the root of its own subusers, in the portal and for one billing group.
    An agent is no user: it speaks for the stack it was launched with, and is never stored as one.
    """

    root = "root"
    subuser = "subuser"
    reseller = "reseller"
    reseller_subuser = "reseller_subuser"
    agent = "agent"


OF_THE_PORTAL_ALONE = (UserKind.reseller, UserKind.reseller_subuser)

# how the id of a stack begins; by it a login knows an agent from an API client
STACK_PREFIX = "stk"
