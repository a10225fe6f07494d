"""The issuers of the product's own tokens."""

from collections.abc import Mapping

from nimbill.access.tokens import PORTAL_SUBJECT_TYPES, TokenIssuer
from nimbill.foundation.product import Product
from nimbill.foundation.settings import Settings


def build_issuers(settings: Settings) -> Mapping[Product, TokenIssuer]:
    return {
        Product.core: TokenIssuer(f"{settings.auth_url}/core", settings.core_token_seconds),
        Product.portal: TokenIssuer(
            settings.auth_url, settings.portal_token_seconds, PORTAL_SUBJECT_TYPES
        ),
    }
