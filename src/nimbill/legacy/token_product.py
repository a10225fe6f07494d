"""The product that version 3 issues tokens for, and the subject type of its agents."""

from nimbill.foundation.product import Product

LEGACY = Product("legacy")

AGENT = "agent"  # the subject type of a token issued to the agent of a stack
