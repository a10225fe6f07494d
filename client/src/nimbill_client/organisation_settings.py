"""The settings of the organisation."""

import base64

from nimbill_client.bodies import (
    OrganisationSettings,
    OrganisationSettingsChange,
    PortalLogo,
    PortalLogoBody,
    Success,
)
from nimbill_client.connection import Call, Connection

PATH = "/m/core/settings"
LOGO_PATH = "/m/core/portal-logo"


class Settings:
    """Rounding, language, time zone, vendors and defaults for all billing groups."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self) -> OrganisationSettings:
        return self._connection.fetch(OrganisationSettings, Call(method="GET", path=PATH))

    def change(
        self, change: OrganisationSettingsChange, *, key: str | None = None
    ) -> OrganisationSettings:
        """Absent fields are not changed; "" clears a text."""
        call = Call(method="PUT", path=PATH, body=change, key=key)
        return self._connection.fetch(OrganisationSettings, call)

    def save_logo(self, content: bytes, *, key: str | None = None) -> PortalLogo:
        """Store a PNG or JPEG file as the logo of the portal."""
        body = PortalLogoBody(content=base64.b64encode(content).decode())
        call = Call(method="PUT", path=LOGO_PATH, body=body, key=key)
        return self._connection.fetch(PortalLogo, call)

    def delete_logo(self, *, key: str | None = None) -> None:
        self._connection.fetch(Success, Call(method="DELETE", path=LOGO_PATH, key=key))
