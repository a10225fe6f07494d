"""Signs exports of the archive, so that a later change of a file is noticed."""

from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from nimbill.foundation.encryption import Encryptor

ALGORITHM = "Ed25519"


def derive_signing_key(encryptor: Encryptor) -> Ed25519PrivateKey:
    """The key of the installation; it is neither stored nor the same as any other key."""
    return Ed25519PrivateKey.from_private_bytes(encryptor.derive_key("archive exports"))


def encode_public_key(key: Ed25519PublicKey) -> str:
    return key.public_bytes_raw().hex()


def compute_fingerprint(public_key: str) -> str:
    """Return what somebody compares with the fingerprint that the service shows."""
    return sha256(bytes.fromhex(public_key)).hexdigest()


def is_signed(content: bytes, signature: str, public_key: str) -> bool:
    """Return whether the key signed the content; malformed texts sign nothing."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), content)
    except (InvalidSignature, ValueError):
        return False
    return True
