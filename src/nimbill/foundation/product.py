"""The products of the service: what an access token is issued for."""

from typing import ClassVar


class Product(str):
    """Also the namespace in which the caller's role actions are looked up.

    The set is open: the application decides which products an installation serves.
    """

    __slots__ = ()

    core: ClassVar["Product"]
    portal: ClassVar["Product"]


Product.core = Product("core")
Product.portal = Product("portal")

PRODUCT_NAME = "Nimbill"  # for people, where a portal has no name of its own
