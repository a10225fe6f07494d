"""Secrets at rest: AES-256-GCM, bound to where they stand, the key kept outside the database."""

import os
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
NONCE_BYTES = 12


class KeyFileError(Exception):
    """The key file cannot be trusted; the service must not start with it."""


class DecryptionError(Exception):
    """The sealed bytes were changed, moved to another place, or sealed by another key."""


@dataclass(frozen=True, slots=True, repr=False)
class Encryptor:
    """Seals for one key; `derived` makes further keys, one for each purpose."""

    key: bytes

    def encrypt(self, secret: bytes, place: Sequence[str]) -> bytes:
        """`place` names table, column, organisation and row; the same words open it again."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, secret, _bound_to(place))

    def decrypt(self, sealed: bytes, place: Sequence[str]) -> bytes:
        nonce, ciphertext = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        try:
            return AESGCM(self.key).decrypt(nonce, ciphertext, _bound_to(place))
        except (InvalidTag, ValueError):  # too short even for a nonce is a ValueError
            raise DecryptionError(place[0]) from None

    def derive_key(self, purpose: str) -> bytes:
        """A key of its own for a purpose, which tells nothing of this one."""
        return HKDF(SHA256(), KEY_BYTES, salt=None, info=f"nimbill {purpose}".encode()).derive(
            self.key
        )

    def for_organisation(self, organisation_id: str) -> "Encryptor":
        """What one organisation's key seals, no other's opens."""
        return Encryptor(self.derive_key(f"organisation {organisation_id}"))

    def __repr__(self) -> str:
        return "Sealer(…)"


def _bound_to(place: Sequence[str]) -> bytes:
    return b"\0".join(part.encode() for part in place)


def load_or_create_key(file: Path) -> Encryptor:
    """The key of this installation; made on first use, never replaced."""
    if not file.exists():
        _make_key(file)
    return Encryptor(_read_key(file))


def _make_key(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".key-")
    try:
        with os.fdopen(handle, "w") as out:
            out.write(secrets.token_hex(KEY_BYTES) + "\n")
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).chmod(0o400)
        # a link fails where a file stands, so of two first starts one key survives
        os.link(temporary, file)
    except FileExistsError:
        pass
    finally:
        Path(temporary).unlink()


def _read_key(file: Path) -> bytes:
    if not file.is_file():
        raise KeyFileError(f"{file} is not a file")
    if file.stat().st_mode & 0o077:
        raise KeyFileError(f"{file} may be read by others; run: chmod 0400 {file}")
    try:
        key = bytes.fromhex(file.read_text().strip())
    except ValueError:
        raise KeyFileError(f"{file} must hold {KEY_BYTES} bytes as hexadecimal digits") from None
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{file} must hold {KEY_BYTES} bytes as hexadecimal digits")
    if _guessable(key):
        raise KeyFileError(f"{file} holds a key that anyone can guess; it must be random")
    return key


def _guessable(key: bytes) -> bool:
    """Keys seen in examples: few different bytes, counting up, or the hash of a short word."""
    counting = bytes(range(KEY_BYTES))
    words = (b"", b"secret", b"password", b"changeme", b"nimbill", b"test", b"key", b"default")
    return (
        len(set(key)) < KEY_BYTES // 4
        or key in (counting, bytes(reversed(counting)))
        or key in [sha256(word).digest() for word in words]
    )
