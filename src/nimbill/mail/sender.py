"""The sender of mails: the configured address, under the name of the organisation."""

from email.headerregistry import Address
from email.utils import parseaddr

from nimbill.foundation.settings import Settings

# See docs/choices.md, mail-sender.


def find_sender(settings: Settings) -> str:
    """Return the address without a name."""
    return parseaddr(settings.mail_from)[1]


def build_sender(settings: Settings, organisation_name: str | None) -> Address | str:
    """Return the header From; a name in the configuration has priority."""
    configured_name, address = parseaddr(settings.mail_from)
    if configured_name or organisation_name is None:
        return settings.mail_from
    user, _, host = address.rpartition("@")
    # one line, so that a name cannot add a header
    return Address(" ".join(organisation_name.split()), user, host)
