"""Signed heads of the chain in a file outside the database: what a cut tail is found by."""

import json
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from nimbill.audit.records import moment
from nimbill.foundation.clock import now
from nimbill.foundation.encryption import Encryptor


def _signer(sealer: Encryptor) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(sealer.derived("audit checkpoints"))


def _file(folder: Path, organisation_id: str) -> Path:
    return folder / f"{organisation_id}.jsonl"


def write_checkpoint(
    folder: Path, sealer: Encryptor, organisation_id: str, seq: int, hash_: bytes
) -> None:
    """Append one signed line and see it safely on disk."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    at = moment(now())
    signature = _signer(sealer).sign(_signed(organisation_id, seq, hash_, at))
    line = {"seq": seq, "hash": hash_.hex(), "at": at, "signature": signature.hex()}
    file = _file(folder, organisation_id)
    # after a torn line a new one begins, or both would be lost
    begin = "\n" if file.exists() and not file.read_bytes().endswith(b"\n") else ""
    with file.open("a") as out:
        out.write(begin + json.dumps(line) + "\n")
        out.flush()
        os.fsync(out.fileno())


def read_checkpoints(
    folder: Path, sealer: Encryptor, organisation_id: str
) -> list[tuple[int, bytes]]:
    """The checkpoints whose signature stands; a torn last line is left out."""
    file = _file(folder, organisation_id)
    if not file.exists():
        return []
    public_key = _signer(sealer).public_key()
    found = []
    for line in file.read_bytes().split(b"\n"):
        try:
            read = json.loads(line)
            seq, hash_ = int(read["seq"]), bytes.fromhex(read["hash"])
            signed = _signed(organisation_id, seq, hash_, read["at"])
            public_key.verify(bytes.fromhex(read["signature"]), signed)
        except (ValueError, KeyError, TypeError, InvalidSignature):
            continue
        found.append((seq, hash_))
    return found


def _signed(organisation_id: str, seq: int, hash_: bytes, at: str) -> bytes:
    return f"{organisation_id} {seq} {hash_.hex()} {at}".encode()
