"""The migration packages of this installation, in the order in which they are applied."""

from nimbill.application.installed import EXTENSIONS
from nimbill.database.migrate import PRODUCT_MIGRATIONS

MIGRATIONS = (
    PRODUCT_MIGRATIONS,
    *(package for extension in EXTENSIONS for package in extension.migrations),
)
