"""A later version of the product: a copy of its sources with further migrations."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.proof.broken_variants import ROOT, with_compiled_modules
from tests.proof.real_server import environment_for

MIGRATIONS = ROOT / "tests" / "database" / "later_migrations" / "versions"
SECONDS_MAX = 300

UPGRADE = """
import asyncio, os
from nimbill.application.migration_packages import MIGRATIONS
from nimbill.database.migrate import migrate
asyncio.run(migrate(os.environ["NIMBILL_DATABASE_URL"], MIGRATIONS))
"""
# No command of the product undoes a single migration; this uses what `migrate` uses.
DOWNGRADE = """
import asyncio, os
from alembic import command
from nimbill.database import migrate
def downgrade(connection):
    config = migrate._alembic_config(migrate.PRODUCT_MIGRATIONS, connection)
    command.downgrade(config, "0001")
asyncio.run(migrate._run_as_owner(os.environ["NIMBILL_DATABASE_URL"], downgrade))
"""


@dataclass(frozen=True)
class LaterVersion:
    sources: Path
    data: Path
    database_url: str

    @property
    def settings(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.sources), "NIMBILL_DATABASE_URL": self.database_url}

    def run(self, script: str) -> str:
        """Run it with the sources of this version; return its error, or an empty text."""
        result = subprocess.run(
            [sys.executable, "-c", script],
            env=environment_for(self.data, self.settings),
            cwd=self.sources,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        return result.stderr.strip()[-300:] if result.returncode else ""


@contextmanager
def later_version(folder: Path, database_url: str) -> Iterator[LaterVersion]:
    copy = folder / "later"
    shutil.copytree(
        ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "node_modules")
    )
    versions = copy / "src" / "nimbill" / "database" / "migrations" / "versions"
    for path in MIGRATIONS.glob("000[2-9]_*.py"):
        shutil.copy(path, versions)
    with with_compiled_modules(copy):
        yield LaterVersion(copy / "src", folder / "data", database_url)
