"""Words used by more than one room."""

from enum import StrEnum
from typing import ClassVar


class Product(str):
    """What a token is issued for; also the namespace its role actions are looked up in.

    The set is open: the application decides which products an installation serves.
    """

    __slots__ = ()

    core: ClassVar["Product"]
    portal: ClassVar["Product"]


Product.core = Product("core")
Product.portal = Product("portal")


class Language(StrEnum):
    ja = "ja"
    en = "en"


class Currency(StrEnum):
    jpy = "jpy"
    usd = "usd"


class UserKind(StrEnum):
    """A root user may do everything in its organisation, a subuser what its roles allow.

    A reseller account is the root of its own subusers, in the portal and for one billing group.
    """

    root = "root"
    subuser = "subuser"
    reseller = "reseller"
    reseller_subuser = "reseller_subuser"


OF_THE_PORTAL_ALONE = (UserKind.reseller, UserKind.reseller_subuser)
