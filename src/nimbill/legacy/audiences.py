"""The product that version 3 issues tokens for, and the audiences of its routes."""

from nimbill.access.gate import Audience
from nimbill.foundation.product import Product

LEGACY = Product("legacy")

AGENT = "agent"  # the subject type of a token issued to the agent of a stack

LEGACY_USER = Audience("legacy user", LEGACY, ("user",))
LEGACY_AGENT = Audience("legacy agent", LEGACY, ("client", AGENT))
