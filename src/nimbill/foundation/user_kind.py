"""The kinds of user accounts."""

from enum import StrEnum


class UserKind(StrEnum):
    """A root user may do everything in its organisation, a subuser what its roles allow.

    A reseller account is the root of its own subusers. It is restricted to the portal and to one
    billing group.
    """

    root = "root"
    subuser = "subuser"
    reseller = "reseller"
    reseller_subuser = "reseller_subuser"


PORTAL_USER_KINDS = (UserKind.reseller, UserKind.reseller_subuser)
