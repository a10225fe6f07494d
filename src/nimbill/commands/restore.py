"""`nimbill restore`: restore a backup into an empty installation."""

import asyncio
from pathlib import Path

from nimbill.application.backup import copy_key
from nimbill.application.backup_manifest import LAKE_FOLDER, read_manifest
from nimbill.application.installed import load_settings
from nimbill.application.open_database import open_database
from nimbill.application.restore import (
    require_empty_places,
    require_key_of_backup,
    require_known_revisions,
    restore_backup,
)
from nimbill.commands.console import print_text


def restore(folder: Path, /, *, key: Path | None = None) -> None:
    """Restore a backup into an empty database, lake and data folder.

    The digests of the backup are checked before anything changes. The key must be in its place, or
    be named with --key.

    Parameters
    ----------
    folder
        The folder that `nimbill backup` has written.
    key
        The copy of the key, if the key file does not exist yet; it is copied into its place.
    """
    settings = load_settings()
    manifest = read_manifest(folder)
    require_known_revisions(manifest)
    key_exists = settings.key_file.exists()
    require_key_of_backup(manifest, settings.key_file if key_exists or key is None else key)
    require_empty_places(settings)
    if key is not None and not key_exists:
        settings.key_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy_key(key, settings.key_file)
    with open_database(settings) as url:
        asyncio.run(restore_backup(url, settings, folder, manifest))
    rows = sum(table.rows for table in manifest.tables.values())
    files = len(manifest.list_files(LAKE_FOLDER))
    print_text(f"Restored {rows} rows and {files} files of the lake, as of {manifest.created_at}.")
    for path in manifest.missing_lake_files:
        print_text(f"missing in the backup: {path}")
    for organisation_id in manifest.organisations:
        print_text(f"To verify it: nimbill audit verify --organisation {organisation_id}")
