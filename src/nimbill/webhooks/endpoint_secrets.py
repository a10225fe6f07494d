"""Secrets of endpoints: encrypted at rest, and the one before is valid for a day after a change."""

from datetime import datetime, timedelta

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.encryption import Encryptor

ROTATION_PERIOD = timedelta(hours=24)


def encrypt_secret(
    own_encryptor: Encryptor, scope: TenantScope, endpoint_id: str, secret: str
) -> bytes:
    """`own_encryptor` has the key of the organisation."""
    return own_encryptor.encrypt(secret.encode(), _associated_data(scope, endpoint_id))


def decrypt_secrets(
    own_encryptor: Encryptor, scope: TenantScope, row: Row, *, at: datetime
) -> list[str]:
    """Return the secrets that sign at this time, the newest first."""
    ciphertexts = [row.encrypted_secret]
    if row.previous_secret_until is not None and at < row.previous_secret_until:
        ciphertexts.append(row.encrypted_previous_secret)
    context = _associated_data(scope, row.endpoint_id)
    return [own_encryptor.decrypt(each, context).decode() for each in ciphertexts]


def _associated_data(scope: TenantScope, endpoint_id: str) -> tuple[str, ...]:
    """The same for both columns, because a rotated secret moves from one to the other."""
    return ("webhook_endpoints", "encrypted_secret", scope.organisation_id, endpoint_id)
