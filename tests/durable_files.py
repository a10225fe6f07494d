"""Files that the product writes and that must survive a power loss once it has written them.

Each function writes below a folder and returns the files that must survive. Their folders are new,
as at the first start of an installation.
"""

from __future__ import annotations

import asyncio
import gzip
import os
from collections.abc import AsyncIterator, Callable
from email.message import EmailMessage
from pathlib import Path

import pyarrow as pa

from nimbill.access.uploads import receive_upload
from nimbill.application.backup import new_backup_folder
from nimbill.application.backup_manifest import (
    MANIFEST,
    BackupManifest,
    copy_stream,
    describe_files,
    write_manifest,
)
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.costs.focus_export import FocusWriter
from nimbill.costs.lake.parquet_files import Lake, import_folder
from nimbill.foundation.encryption import KEY_BYTES, Encryptor, load_or_create_key
from nimbill.mail.mailer import write_to_outbox

_FORM = (
    b'--x\r\nContent-Disposition: form-data; name="file"; filename="costs.csv"\r\n\r\n'
    b"costs\r\n--x--\r\n"
)


def write_key(folder: Path) -> list[Path]:
    load_or_create_key(folder / "secrets/key")
    return [folder / "secrets/key"]


def write_checkpoints(folder: Path) -> list[Path]:
    encryptor = Encryptor(bytes(KEY_BYTES))
    for number in (1, 2):
        write_checkpoint(folder / "data/audit", encryptor, "org_1", number, bytes([number] * 32))
    return [folder / "data/audit/org_1.jsonl"]


def write_mail(folder: Path) -> list[Path]:
    email = EmailMessage()
    email.set_content("text")
    write_to_outbox(folder / "outbox/org_1", "msg_1", email)
    return [folder / "outbox/org_1/msg_1.eml"]


def write_upload(folder: Path) -> list[Path]:
    async def send() -> AsyncIterator[bytes]:
        yield _FORM

    async def receive() -> None:
        form = "multipart/form-data; boundary=x"
        upload = await receive_upload(form, send(), folder / "uploads/req_1")
        upload.move_to(folder / "imports/imp_1/uploaded")

    asyncio.run(receive())
    return [folder / "imports/imp_1/uploaded/costs.csv"]


def write_lake(folder: Path) -> list[Path]:
    converted = folder / "00000.parquet"
    converted.write_bytes(b"lines")
    with converted.open("rb") as file:
        os.fsync(file.fileno())
    lake = Lake(str(folder / "data/lake"))
    place = import_folder("org_1", vendor="aws", month="2026-08", import_id="imp_1")
    return [folder / "data/lake" / name for name in lake.put([converted], folder=place)]


def write_focus(folder: Path) -> list[Path]:
    table = pa.table({"BilledCost": ["1"]})
    with FocusWriter() as writer:
        writer.write(folder / "focus.parquet", table.schema, [table])
    return [folder / "focus.parquet"]


def write_backup(folder: Path) -> list[Path]:
    backup = folder / "backups/monday"
    with new_backup_folder(backup):
        (backup / "database").mkdir()
        with gzip.open(backup / "database/users.gz", "wb") as table:
            table.write(b"rows")
        with (folder / "line").open("w+b") as source:
            copy_stream(source, backup / "lake/org_1/lines.parquet")
        manifest = BackupManifest(
            format=1,
            version="1",
            created_at="2026-08-01T00:00:00+00:00",
            key_check="",
            revisions={},
            organisations=[],
            tables={},
            files=describe_files(backup),
            missing_lake_files=[],
        )
        write_manifest(backup, manifest)
    return [backup / name for name in (MANIFEST, *manifest.files)]


DURABLE_FILES: dict[str, Callable[[Path], list[Path]]] = {
    "key": write_key,
    "checkpoints": write_checkpoints,
    "mail": write_mail,
    "upload": write_upload,
    "lake": write_lake,
    "FOCUS file": write_focus,
    "backup": write_backup,
}
