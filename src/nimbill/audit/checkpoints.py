"""Signed heads of the chain in a file outside the database, to detect a truncated chain."""

import json
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from nimbill.audit.records import format_timestamp
from nimbill.foundation.clock import now
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.fsync import create_folder, fsync_path


def _derive_signing_key(encryptor: Encryptor) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(encryptor.derive_key("audit checkpoints"))


def _checkpoint_file(folder: Path, organisation_id: str) -> Path:
    return folder / f"{organisation_id}.jsonl"


def write_checkpoint(
    folder: Path, encryptor: Encryptor, organisation_id: str, seq: int, hash_: bytes
) -> None:
    """Append one signed line and fsync it."""
    create_folder(folder, 0o700)
    at = format_timestamp(now())
    signature = _derive_signing_key(encryptor).sign(_signed_text(organisation_id, seq, hash_, at))
    line = {"seq": seq, "hash": hash_.hex(), "at": at, "signature": signature.hex()}
    file = _checkpoint_file(folder, organisation_id)
    # Start a new line after an incomplete one; otherwise both would be unreadable.
    separator = "\n" if file.exists() and not file.read_bytes().endswith(b"\n") else ""
    with file.open("a") as out:
        out.write(separator + json.dumps(line) + "\n")
        out.flush()
        os.fsync(out.fileno())
    fsync_path(folder)  # the file may be new


def read_checkpoints(
    folder: Path, encryptor: Encryptor, organisation_id: str
) -> list[tuple[int, bytes]]:
    """Return the checkpoints with a valid signature; skip all other lines."""
    file = _checkpoint_file(folder, organisation_id)
    if not file.exists():
        return []
    public_key = _derive_signing_key(encryptor).public_key()
    checkpoints = []
    for line in file.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
            seq, hash_ = int(record["seq"]), bytes.fromhex(record["hash"])
            signed_text = _signed_text(organisation_id, seq, hash_, record["at"])
            public_key.verify(bytes.fromhex(record["signature"]), signed_text)
        except (ValueError, KeyError, TypeError, InvalidSignature):
            continue
        checkpoints.append((seq, hash_))
    return checkpoints


def _signed_text(organisation_id: str, seq: int, hash_: bytes, at: str) -> bytes:
    return f"{organisation_id} {seq} {hash_.hex()} {at}".encode()


def remove_checkpoints(folder: Path, organisation_id: str) -> None:
    _checkpoint_file(folder, organisation_id).unlink(missing_ok=True)
