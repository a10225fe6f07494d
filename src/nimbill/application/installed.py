"""The extensions of this installation, and what the product and they offer together."""

import os
from collections.abc import Mapping, Sequence

from nimbill.access.credentials import CALLER_LOADERS, CallerLoader
from nimbill.access.extension_rights import ExtensionRights
from nimbill.access.token_issuers import build_issuers
from nimbill.access.tokens import VIEW, TokenIssuer
from nimbill.application.extension import Extension
from nimbill.application.legacy_wiring import LEGACY_EXTENSION  # version 3
from nimbill.application.response_links import RESPONSE_LINKS
from nimbill.foundation.extras import describe_missing_extra
from nimbill.foundation.product import Product
from nimbill.foundation.setting_names import SETTING_NAMES, find_unknown_settings
from nimbill.foundation.settings import Settings, SettingsError, read_settings
from nimbill.http.deprecation import Deprecation
from nimbill.http.response_links import ResponseLinks
from nimbill.portal.staff_views.viewed_customer import load_viewed_customer

ENGINE_SPARK = "NIMBILL_ENGINE=spark"

EXTENSIONS: Sequence[Extension] = [
    LEGACY_EXTENSION,  # version 3
]

PRODUCTS: Sequence[Product] = [
    Product.core,
    Product.portal,
    *(product for extension in EXTENSIONS for product in extension.products),
]

DEPRECATIONS: Sequence[Deprecation] = [
    deprecation for extension in EXTENSIONS for deprecation in extension.deprecations
]


def load_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings; SettingsError if one is invalid or needs something that is not installed."""
    settings = read_settings(environment)
    if settings.engine == "spark" and (missing := describe_missing_extra("spark", ENGINE_SPARK)):
        raise SettingsError(missing)
    installed_issuers(settings)
    return settings


def list_unknown_settings(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence for each variable that no part of this installation reads."""
    known = SETTING_NAMES.union(*(extension.setting_names for extension in EXTENSIONS))
    return list(find_unknown_settings(environment, known))


def installed_issuers(settings: Settings) -> Mapping[Product, TokenIssuer]:
    found = dict(build_issuers(settings))
    for extension in EXTENSIONS:
        found |= extension.issuers(settings)
    return found


def installed_links() -> ResponseLinks:
    found = dict(RESPONSE_LINKS)
    for extension in EXTENSIONS:
        found |= extension.links
    return found


def installed_rights() -> Sequence[ExtensionRights]:
    return [extension.rights for extension in EXTENSIONS]


def installed_caller_loaders() -> Mapping[str, CallerLoader]:
    found = {**CALLER_LOADERS, VIEW: load_viewed_customer}
    for extension in EXTENSIONS:
        found |= extension.caller_loaders
    return found
