"""`nimbill restore`: restore a backup into an empty installation."""

import asyncio
from json import dumps
from pathlib import Path
from typing import Any

from nimbill.application.backup import copy_key
from nimbill.application.backup_manifest import LAKE_FOLDER, BackupManifest, read_manifest
from nimbill.application.open_database import open_database
from nimbill.application.restore import (
    require_empty_places,
    require_key_of_backup,
    require_known_revisions,
    restore_backup,
)
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import JsonSwitch, print_json, print_text, progress_bar
from nimbill.foundation.fsync import create_folder


def restore(folder: Path, /, *, key: Path | None = None, json: JsonSwitch = False) -> None:
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
    settings = load_command_settings()
    manifest = read_manifest(folder)
    require_known_revisions(manifest)
    key_exists = settings.key_file.exists()
    require_key_of_backup(manifest, settings.key_file if key_exists or key is None else key)
    require_empty_places(settings)
    if key is not None and not key_exists:
        create_folder(settings.key_file.parent, 0o700)
        copy_key(key, settings.key_file)
    with progress_bar("restore"), open_database(settings) as url:
        asyncio.run(restore_backup(url, settings, folder, manifest))
    summary = _summarise(manifest)
    if json:
        print_json(dumps(summary).encode())
    else:
        _print_summary(summary)


def _summarise(manifest: BackupManifest) -> dict[str, Any]:
    return {
        "created_at": manifest.created_at,
        "organisations": list(manifest.organisations),
        "rows": sum(table.rows for table in manifest.tables.values()),
        "lake_files": len(manifest.list_files(LAKE_FOLDER)),
        "missing_lake_files": list(manifest.missing_lake_files),
    }


def _print_summary(summary: dict[str, Any]) -> None:
    restored = f"{summary['rows']} rows and {summary['lake_files']} files of the lake"
    print_text(f"Restored {restored}, as of {summary['created_at']}.")
    for path in summary["missing_lake_files"]:
        print_text(f"missing in the backup: {path}")
    print_text("To verify it:")
    for organisation_id in summary["organisations"]:
        print_text(f"  nimbill audit verify --organisation {organisation_id}")
