"""Encryption of secrets at rest with AES-256-GCM; the key is in a file outside the database."""

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

from nimbill.foundation.errors import OperatorError
from nimbill.foundation.fsync import create_folder, fsync_path

KEY_BYTES = 32
NONCE_BYTES = 12


class KeyFileError(OperatorError):
    """The key file is unusable or unsafe; the service must not start."""


class DecryptionError(Exception):
    """The ciphertext was changed, belongs to another context, or needs another key."""


@dataclass(frozen=True, slots=True, repr=False)
class Encryptor:
    """Encrypts and decrypts with one key."""

    key: bytes

    def encrypt(self, secret: bytes, context: Sequence[str]) -> bytes:
        """Bind the ciphertext to `context`: table, column, organisation and row.

        Decryption needs the same context, so a ciphertext copied to another row is useless.
        """
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, secret, _associated_data(context))

    def decrypt(self, ciphertext: bytes, context: Sequence[str]) -> bytes:
        nonce, encrypted = ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:]
        try:
            return AESGCM(self.key).decrypt(nonce, encrypted, _associated_data(context))
        except (InvalidTag, ValueError):  # ValueError: shorter than a nonce
            raise DecryptionError(context[0]) from None

    def derive_key(self, purpose: str) -> bytes:
        """Derive a separate key for a purpose; it reveals nothing about this key."""
        return HKDF(SHA256(), KEY_BYTES, salt=None, info=f"nimbill {purpose}".encode()).derive(
            self.key
        )

    def for_organisation(self, organisation_id: str) -> "Encryptor":
        """Derive an encryptor whose ciphertexts no other organisation's key can decrypt."""
        return Encryptor(self.derive_key(f"organisation {organisation_id}"))

    def __repr__(self) -> str:
        return "Encryptor(…)"


def _associated_data(context: Sequence[str]) -> bytes:
    return b"\0".join(part.encode() for part in context)


def load_or_create_key(file: Path) -> Encryptor:
    """Load the installation's key. The first call creates it; it is never replaced."""
    if not file.exists():
        _create_key_file(file)
    return Encryptor(_read_key(file))


def load_key(file: Path) -> Encryptor:
    """Load the installation's key; refuse a missing file."""
    if is_key_missing(file):
        raise KeyFileError(
            f"The key file {file} is missing, and the database cannot be used without it. Restore "
            "the file, or name its place with NIMBILL_KEY_FILE."
        )
    return Encryptor(_read_key(file))


def is_key_missing(file: Path) -> bool:
    return not file.exists()


def _create_key_file(file: Path) -> None:
    create_folder(file.parent, 0o700)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".key-")
    try:
        with os.fdopen(handle, "w") as out:
            out.write(secrets.token_hex(KEY_BYTES) + "\n")
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).chmod(0o400)
        # Unlike a rename, a link fails if the file exists: of two first starts one key survives.
        os.link(temporary, file)
        fsync_path(file.parent)
    except FileExistsError:
        pass
    finally:
        Path(temporary).unlink()


def _read_key(file: Path) -> bytes:
    if not file.is_file():
        raise KeyFileError(f"{file} is not a file.")
    if file.stat().st_mode & 0o077:
        raise KeyFileError(f"Other users have access to {file}. Run: chmod 0400 {file}")
    try:
        key = bytes.fromhex(file.read_text().strip())
    except ValueError:
        raise KeyFileError(
            f"{file} must contain {KEY_BYTES} bytes as hexadecimal digits."
        ) from None
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{file} must contain {KEY_BYTES} bytes as hexadecimal digits.")
    if _is_guessable(key):
        raise KeyFileError(f"{file} contains a key that is easy to guess. Use a random key.")
    return key


def _is_guessable(key: bytes) -> bool:
    """Detect keys of examples: few different bytes, a sequence, or the hash of a common word."""
    sequence = bytes(range(KEY_BYTES))
    words = (b"", b"secret", b"password", b"changeme", b"nimbill", b"test", b"key", b"default")
    return (
        len(set(key)) < KEY_BYTES // 4
        or key in (sequence, bytes(reversed(sequence)))
        or key in [sha256(word).digest() for word in words]
    )
