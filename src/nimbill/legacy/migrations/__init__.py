"""Alembic migrations of version 3, applied after those of the product.

Version 3 records its revision in a table of its own. A database that has these tables therefore
still migrates when this package is deleted.
"""

from nimbill.database.migrate import MigrationPackage

LEGACY_MIGRATIONS = MigrationPackage(__name__, version_table="alembic_version_legacy")
