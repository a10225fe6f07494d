"""The token of a stack: what its agent logs in with, hashed for that and sealed for showing."""

from nimbill.access.caller import Caller
from nimbill.access.passwords import generate_client_secret
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.legacy.roles.permission import is_master_account

basis = chosen("stack-auth-token")

HIDDEN = "***"


def new_token() -> str:
    """As random as a client's secret, and like it."""
    return generate_client_secret()


def sealed_token(token: str, encryptor: Encryptor, scope: TenantScope, stack_id: str) -> bytes:
    own = encryptor.for_organisation(scope.organisation_id)
    return own.encrypt(token.encode(), _place(scope.organisation_id, stack_id))


def token_of(stack: Row, encryptor: Encryptor) -> str | None:
    """In clear, for the instances of the stack; None once it is deleted."""
    if stack.sealed_token is None:
        return None
    own = encryptor.for_organisation(stack.organisation_id)
    return own.decrypt(stack.sealed_token, _place(stack.organisation_id, stack.stack_id)).decode()


def token_shown(stack: Row, encryptor: Encryptor, caller: Caller) -> str:
    """To the master account alone, and while there is one."""
    return (token_of(stack, encryptor) if is_master_account(caller) else None) or HIDDEN


def _place(organisation_id: str, stack_id: str) -> tuple[str, ...]:
    return ("legacy_stacks", "sealed_token", organisation_id, stack_id)
