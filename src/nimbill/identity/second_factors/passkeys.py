"""Passkeys: the site they belong to, and the verification of what browsers return."""

import base64
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import urlsplit

from webauthn import verify_authentication_response, verify_registration_response
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import (
    AuthenticationCredential,
    AuthenticatorAssertionResponse,
    AuthenticatorAttestationResponse,
    RegistrationCredential,
)

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.origins import format_origin
from nimbill.foundation.settings import Settings
from nimbill.identity.second_factors.bodies import NewPasskey, PasskeySignature

CHALLENGE_BYTES = 32
# Those that authenticators use, in the order of preference.
ALGORITHMS = [
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
]


@dataclass(frozen=True, slots=True)
class PasskeySite:
    """The relying party of WebAuthn: a host name, and the origin of its pages."""

    rp_id: str
    origin: str


@dataclass(frozen=True, slots=True)
class VerifiedPasskey:
    credential_id: bytes
    public_key: bytes
    sign_count: int


class PasskeyRefused(Exception):
    """The signature, the challenge, the origin or the counter is wrong, or the data unreadable."""


def find_site(settings: Settings) -> PasskeySite | None:
    """Return the site of the service's address, or None if its host is an address.

    Browsers create passkeys for names only. A service on this machine is reached by the name
    localhost, whatever address it listens at.
    """
    parts = urlsplit(settings.link_url)
    host = (parts.hostname or "").lower()
    try:
        is_loopback = ip_address(host).is_loopback
    except ValueError:
        return PasskeySite(host, format_origin(settings.link_url))
    if not is_loopback:
        return None
    port = f":{parts.port}" if parts.port else ""
    return PasskeySite("localhost", format_origin(f"{parts.scheme}://localhost{port}"))


def derive_user_handle(scope: TenantScope, user_id: str) -> bytes:
    """Authenticators store it, so it tells nothing about the person."""
    return sha256(f"{scope.organisation_id}\0{user_id}".encode()).digest()


def encode_bytes(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def decode_bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def verify_new_passkey(site: PasskeySite, challenge: bytes, sent: NewPasskey) -> VerifiedPasskey:
    """Attestation is not requested: any authenticator of the user is accepted."""
    try:
        verified = verify_registration_response(
            credential=RegistrationCredential(
                id=sent.credential_id,
                raw_id=decode_bytes(sent.credential_id),
                response=AuthenticatorAttestationResponse(
                    client_data_json=decode_bytes(sent.client_data),
                    attestation_object=decode_bytes(sent.attestation_object),
                ),
            ),
            expected_challenge=challenge,
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            supported_pub_key_algs=ALGORITHMS,
        )
    except Exception as error:  # the parsers of the library raise many types
        raise PasskeyRefused from error
    if encode_bytes(verified.credential_id) != sent.credential_id:
        raise PasskeyRefused
    return VerifiedPasskey(
        verified.credential_id, verified.credential_public_key, verified.sign_count
    )


def verify_signature(
    site: PasskeySite, challenge: bytes, factor: Row, sent: PasskeySignature
) -> int:
    """Return the new counter of signatures. A counter that does not grow is refused."""
    try:
        verified = verify_authentication_response(
            credential=AuthenticationCredential(
                id=sent.credential_id,
                raw_id=decode_bytes(sent.credential_id),
                response=AuthenticatorAssertionResponse(
                    client_data_json=decode_bytes(sent.client_data),
                    authenticator_data=decode_bytes(sent.authenticator_data),
                    signature=decode_bytes(sent.signature),
                ),
            ),
            expected_challenge=challenge,
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            credential_public_key=factor.public_key,
            credential_current_sign_count=factor.sign_count,
        )
    except Exception as error:  # the parsers of the library raise many types
        raise PasskeyRefused from error
    return verified.new_sign_count
