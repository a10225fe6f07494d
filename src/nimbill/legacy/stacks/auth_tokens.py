"""The token that the agents of a stack log in with.

A hash is stored to verify it, and an encrypted copy to show it and to pass it to instances.
"""

from nimbill.access.caller import Caller
from nimbill.access.passwords import generate_client_secret
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.encryption import Encryptor
from nimbill.legacy.roles.permissions import is_master_account

# See docs/choices.md, stack-auth-token.

MASK = "***"


def generate_token() -> str:
    return generate_client_secret()


def encrypt_token(token: str, encryptor: Encryptor, scope: TenantScope, stack_id: str) -> bytes:
    own = encryptor.for_organisation(scope.organisation_id)
    return own.encrypt(token.encode(), _associated_data(scope.organisation_id, stack_id))


def decrypt_token(stack: Row, encryptor: Encryptor) -> str | None:
    """The token in plain text; None if the stack is deleted."""
    if stack.encrypted_token is None:
        return None
    own = encryptor.for_organisation(stack.organisation_id)
    return own.decrypt(
        stack.encrypted_token, _associated_data(stack.organisation_id, stack.stack_id)
    ).decode()


def show_token(stack: Row, encryptor: Encryptor, caller: Caller) -> str:
    """Only the master account sees the token; everybody else sees a mask."""
    return (decrypt_token(stack, encryptor) if is_master_account(caller) else None) or MASK


def _associated_data(organisation_id: str, stack_id: str) -> tuple[str, ...]:
    return ("legacy_stacks", "encrypted_token", organisation_id, stack_id)
