"""A later version of the product: this one with further migrations."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.fault_injection.replacements import PACKAGE, ROOT, environment_with
from tests.proof.real_server import environment_for

MIGRATIONS = ROOT / "tests" / "database" / "later_migrations" / "versions"
NEWEST = max(path.name[:4] for path in (PACKAGE / "database/migrations/versions").glob("0*.py"))
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
    command.downgrade(config, "{newest}")
asyncio.run(migrate._run_as_owner(os.environ["NIMBILL_DATABASE_URL"], downgrade))
""".replace("{newest}", NEWEST)


MIGRATE = "database/migrate.py"
FIND_FOLDERS = """def _find_folders(package):
    from pathlib import Path
    later = [Path({folder!r})] if package == PRODUCT_MIGRATIONS else []
    return [files(package.name) / "versions", *later]


@cache
def _list_revisions("""


@dataclass(frozen=True)
class LaterVersion:
    data: Path
    settings: dict[str, str]

    def run(self, script: str) -> str:
        """Run it with this version; return its error, or an empty text."""
        result = subprocess.run(
            [sys.executable, "-c", script],
            env=environment_for(self.data, self.settings),
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        return result.stderr.strip()[-300:] if result.returncode else ""


def _number_later(found: re.Match[str]) -> str:
    """The stand-in for the baseline, 0001, is the newest revision of this version."""
    return f"{int(found[0]) - 1 + int(NEWEST):04}"


def later_version(folder: Path, database_url: str) -> LaterVersion:
    versions = folder / "versions"
    versions.mkdir()
    for path in MIGRATIONS.glob("000[2-9]_*.py"):
        text = re.sub(r'(?<=revision = ")[0-9]{4}', _number_later, path.read_text())
        (versions / re.sub("^[0-9]{4}", _number_later, path.name)).write_text(text)
    replacements = [
        (MIGRATE, "@cache\ndef _list_revisions(", FIND_FOLDERS.format(folder=str(versions))),
        (
            MIGRATE,
            'files(package.name).joinpath("versions").iterdir()',
            "[path for folder in _find_folders(package) for path in folder.iterdir()]",
        ),
        (MIGRATE, 'f"{package.name}:versions"', '"\\n".join(map(str, _find_folders(package)))'),
    ]
    settings = {**environment_with(replacements, folder), "NIMBILL_DATABASE_URL": database_url}
    return LaterVersion(folder / "data", settings)
