"""`nimbill backup`: write a backup of database, lake and audit checkpoints, or verify one."""

import asyncio
import sys
from json import dumps
from pathlib import Path

from cyclopts import App

from nimbill.application.backup import (
    copy_key,
    load_existing_key,
    new_backup_folder,
    refuse_key_target,
    write_backup,
)
from nimbill.application.backup_manifest import LAKE_FOLDER, BackupManifest
from nimbill.application.backup_verification import find_problems_of_backup
from nimbill.application.open_database import open_database
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import JsonSwitch, print_json, print_text, progress_bar

INCOMPLETE = 1  # exit code

backup = App(name="backup", help="Write a backup, or verify one.")


@backup.default
def write(folder: Path, /, *, key: Path | None = None, json: JsonSwitch = False) -> None:
    """Write a backup into an empty folder; exit code 1 if files of the lake are missing.

    Contains the database, the lake and the audit checkpoints, but not the key. The server may run.

    Parameters
    ----------
    folder
        An empty or new folder.
    key
        Also copy the key to this new file. Keep it apart from the backup.
    """
    settings = load_command_settings()
    encryptor = load_existing_key(settings)
    if key is not None:
        refuse_key_target(key, backup=folder)
    with progress_bar("backup"), new_backup_folder(folder), open_database(settings) as url:
        manifest = asyncio.run(write_backup(url, encryptor, settings, folder))
    if key is not None:
        copy_key(settings.key_file, key)
    if json:
        print_json(dumps(_summarise(folder, manifest)).encode())
    else:
        _print_summary(folder, manifest, has_key=key is not None)
    if manifest.missing_lake_files:
        sys.exit(INCOMPLETE)


@backup.command
def verify(folder: Path, /, *, key: Path | None = None, json: JsonSwitch = False) -> None:
    """Verify a backup without restoring it; exit code 1 if it is damaged or incomplete.

    Reads every file. Needs neither the database nor the settings.

    Parameters
    ----------
    folder
        The folder that `nimbill backup` has written.
    key
        Also check that this is the key of the backup.
    """
    with progress_bar("backup"):
        problems = find_problems_of_backup(folder, key)
    if json:
        result = {"folder": str(folder), "intact": not problems, "problems": problems}
        print_json(dumps(result).encode())
    else:
        print_text(f"{folder}: {'damaged' if problems else 'intact'}")
        for problem in problems:
            print_text(f"  {problem}")
    if problems:
        sys.exit(INCOMPLETE)


def _summarise(folder: Path, manifest: BackupManifest) -> dict[str, object]:
    return {
        "folder": str(folder),
        "organisations": len(manifest.organisations),
        "rows": sum(table.rows for table in manifest.tables.values()),
        "lake_files": len(manifest.list_files(LAKE_FOLDER)),
        "bytes": sum(file.bytes for file in manifest.files.values()),
        "missing_lake_files": list(manifest.missing_lake_files),
    }


def _print_summary(folder: Path, manifest: BackupManifest, *, has_key: bool) -> None:
    summary = _summarise(folder, manifest)
    print_text(
        f"{folder}: {summary['organisations']} organisations, {summary['rows']} rows, "
        f"{summary['lake_files']} files of the lake, {summary['bytes']} bytes"
    )
    for path in manifest.missing_lake_files:
        print_text(f"missing or changed in the lake, and not in the backup: {path}")
    if not has_key:
        print_text("The key is not included. Keep a copy of it in another place (see --key).")
