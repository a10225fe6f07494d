"""The audiences of the routes of version 3."""

from nimbill.access.gate import Audience
from nimbill.legacy.token_product import AGENT, LEGACY

LEGACY_USER = Audience("legacy user", LEGACY, ("user",))
LEGACY_AGENT = Audience("legacy agent", LEGACY, ("client", AGENT))
