"""Secrets and signatures of Standard Webhooks: HMAC-SHA256 over id, time and body."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105  # the prefix of every secret
SECRET_BYTES = 32


def generate_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def build_headers(
    event_id: str, at: datetime, body: bytes, signing_secrets: Iterable[str]
) -> dict[str, str]:
    """Sign once with each secret, so that the receiver may know either while it changes."""
    timestamp = str(int(at.timestamp()))
    return {
        "webhook-id": event_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(
            _sign(secret, event_id, timestamp, body) for secret in signing_secrets
        ),
    }


def _sign(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"
