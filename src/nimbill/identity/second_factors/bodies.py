"""Request and response bodies of second factors. Bytes are text in base64url without padding."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import msgspec

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, text_length

BASE64URL = "^[A-Za-z0-9_-]+$"
Bytes = Annotated[str, msgspec.Meta(min_length=1, max_length=16_384, pattern=BASE64URL)]
TotpCode = Annotated[str, msgspec.Meta(min_length=6, max_length=6, pattern="^[0-9]{6}$")]
Token = Annotated[str, text_length(1, 200)]


class FactorKind(StrEnum):
    passkey = "passkey"
    totp = "totp"


class SecondFactor(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("second-factors")

    factor_id: str
    kind: FactorKind
    name: str
    create_time: str
    last_use_time: str | None


class PasskeyCreationOptions(Body, frozen=True, kw_only=True):
    """What a browser needs to create a passkey. `algorithms` are numbers of COSE algorithms."""

    basis: ClassVar[Basis] = chosen("second-factors")

    challenge: str
    rp_id: str
    user_handle: str
    username: str
    algorithms: list[int]
    known_credential_ids: list[str]


class PasskeyRequestOptions(Body, frozen=True, kw_only=True):
    """What a browser needs to let a passkey sign the challenge."""

    basis: ClassVar[Basis] = chosen("second-factors")

    challenge: str
    rp_id: str
    credential_ids: list[str]


class TotpKey(Body, frozen=True, kw_only=True):
    """The secret of an authenticator app, also as an address that apps read."""

    basis: ClassVar[Basis] = chosen("second-factors")

    secret: str
    uri: str


class RegistrationStart(Body, frozen=True, kw_only=True):
    """`old_password` is the current password."""

    basis: ClassVar[Basis] = chosen("second-factors")

    kind: FactorKind
    old_password: str | None = None


class SetupStart(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("second-factors")

    sign_in_token: Token
    kind: FactorKind


class FactorRegistration(Body, frozen=True, kw_only=True):
    """`passkey` or `totp` is present, according to the kind."""

    basis: ClassVar[Basis] = chosen("second-factors")

    registration_token: str
    kind: FactorKind
    passkey: PasskeyCreationOptions | None
    totp: TotpKey | None


class NewPasskey(Body, frozen=True, kw_only=True):
    """What `navigator.credentials.create()` returned."""

    basis: ClassVar[Basis] = chosen("second-factors")

    credential_id: Bytes
    client_data: Bytes
    attestation_object: Bytes


class SecondFactorCreate(Body, frozen=True, kw_only=True):
    """Completes a registration with a new passkey or the first code of an authenticator app."""

    basis: ClassVar[Basis] = chosen("second-factors")

    registration_token: Token
    name: Annotated[str, text_length(1, 100)]
    passkey: NewPasskey | None = None
    totp_code: TotpCode | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_proof_violations(sent)


class SecondFactorRemoval(Body, frozen=True, kw_only=True):
    """`old_password` is the current password."""

    basis: ClassVar[Basis] = chosen("second-factors")

    old_password: str | None = None


class PasskeySignature(Body, frozen=True, kw_only=True):
    """What `navigator.credentials.get()` returned."""

    basis: ClassVar[Basis] = chosen("second-factors")

    credential_id: Bytes
    client_data: Bytes
    authenticator_data: Bytes
    signature: Bytes


class SecondFactorSignIn(Body, frozen=True, kw_only=True):
    """The second step of signing in, with one of the user's factors."""

    basis: ClassVar[Basis] = chosen("second-factors")

    sign_in_token: Token
    passkey: PasskeySignature | None = None
    totp_code: TotpCode | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_proof_violations(sent)


def find_proof_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    if (sent.get("passkey") is None) == (sent.get("totp_code") is None):
        yield Violation("body", "either passkey or totp_code")
