"""What a portal shows of its reseller; other packages return it, too."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body


class Branding(Body, frozen=True, kw_only=True):
    """What is not set is null. `logo` and `style` are addresses."""

    basis: ClassVar[Basis] = chosen("portal-branding")

    name: str | None = None
    colour: str | None = None
    logo: str | None = None
    style: str | None = None
