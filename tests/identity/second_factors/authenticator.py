"""An authenticator in software: it creates a passkey and signs challenges like a browser."""

from __future__ import annotations

import base64
import json
import secrets
import struct
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

ORIGIN = "http://localhost:8080"
USER_PRESENT, HAS_CREDENTIAL = 0x01, 0x40


def encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


@dataclass
class Authenticator:
    """`sign_count` grows with each signature; authenticators that do not count always send 0."""

    sign_count: int = 0
    origin: str = ORIGIN
    counts: bool = True
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def create(self, options: dict[str, Any]) -> dict[str, str]:
        """Answer `navigator.credentials.create()`."""
        credential = b"\0" * 16 + struct.pack(">H", len(self.credential_id)) + self.credential_id
        data = self._authenticator_data(options["rp_id"], USER_PRESENT | HAS_CREDENTIAL)
        statement = {
            "fmt": "none",
            "attStmt": {},
            "authData": data + credential + self.encode_public_key(),
        }
        return {
            "credential_id": encode(self.credential_id),
            "client_data": encode(self._client_data("webauthn.create", options["challenge"])),
            "attestation_object": encode(cbor2.dumps(statement)),
        }

    def sign(self, options: dict[str, Any]) -> dict[str, str]:
        """Answer `navigator.credentials.get()`."""
        self.sign_count += self.counts
        data = self._authenticator_data(options["rp_id"], USER_PRESENT)
        client_data = self._client_data("webauthn.get", options["challenge"])
        signature = self.key.sign(data + sha256(client_data).digest(), ec.ECDSA(SHA256()))
        return {
            "credential_id": encode(self.credential_id),
            "client_data": encode(client_data),
            "authenticator_data": encode(data),
            "signature": encode(signature),
        }

    def _authenticator_data(self, rp_id: str, flags: int) -> bytes:
        return sha256(rp_id.encode()).digest() + struct.pack(">BI", flags, self.sign_count)

    def _client_data(self, kind: str, challenge: str) -> bytes:
        values = {
            "type": kind,
            "challenge": challenge,
            "origin": self.origin,
            "crossOrigin": False,
        }
        return json.dumps(values).encode()

    def encode_public_key(self) -> bytes:
        return cbor2.dumps(self._public_key())

    def _public_key(self) -> dict[int, Any]:
        """The key as COSE: EC2, ES256, P-256."""
        numbers = self.key.public_key().public_numbers()
        return {
            1: 2,
            3: -7,
            -1: 1,
            -2: numbers.x.to_bytes(32, "big"),
            -3: numbers.y.to_bytes(32, "big"),
        }
