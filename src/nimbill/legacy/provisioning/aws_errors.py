"""What AWS says when it says no, in plain words and without a word of what was sent."""

import re
from collections.abc import Mapping

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnection

from nimbill.legacy.provisioning.provisioner import NotNow, Refused

# what passes by itself; the library has tried again a few times when we hear of it
LATER: Mapping[str, str] = {
    "InsufficientInstanceCapacity": "AWS has no capacity for this type just now",
    "InsufficientHostCapacity": "AWS has no capacity for this type just now",
    "InternalError": "AWS had an error of its own",
    "InternalFailure": "AWS had an error of its own",
    "RequestLimitExceeded": "AWS asks for fewer requests",
    "Throttling": "AWS asks for fewer requests",
    "ThrottlingException": "AWS asks for fewer requests",
    "ServiceUnavailable": "AWS cannot answer just now",
    "Unavailable": "AWS cannot answer just now",
    "IncorrectInstanceState": "the instance is on its way to another state",
    "IncorrectState": "the instance is on its way to another state",
}

NEVER: Mapping[str, str] = {
    "AuthFailure": "AWS does not accept the credential",
    "InvalidClientTokenId": "AWS does not accept the credential",
    "SignatureDoesNotMatch": "AWS does not accept the credential",
    "UnrecognizedClientException": "AWS does not accept the credential",
    "ExpiredToken": "the credential has expired",
    "RequestExpired": "the credential has expired",
    "OptInRequired": "the account may not use this region",
    "UnauthorizedOperation": "the credential does not allow it",
    "AccessDenied": "the credential does not allow it",
    "OperationNotPermitted": "the instance is protected against it",
    "InvalidAMIID.NotFound": "there is no such image",
    "InvalidAMIID.Malformed": "there is no such image",
    "InvalidAMIID.Unavailable": "the image is not available",
    "InvalidInstanceType": "there is no such instance type",
    "InvalidInstanceAttributeValue": "there is no such instance type",
    "Unsupported": "the region does not offer this combination",
    "InstanceLimitExceeded": "the account may not run more instances of this type",
    "VcpuLimitExceeded": "the account may not run more instances of this type",
    "MaxSpotInstanceCountExceeded": "the account may not run more spot instances",
    "SpotMaxPriceTooLow": "the price of spot instances is above the limit",
    "VolumeTypeNotAvailableInZone": "the volume type is not offered there",
    "InvalidParameterValue": "a value of the provision is not accepted",
    "InvalidParameterCombination": "the values of the provision do not go together",
    "VPCIdNotSpecified": "the account has no default network in this region",
}

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,79}")


def refusal_of(error: Exception, what: str) -> Refused | NotNow:
    """What the library raised, as something to come back to or not."""
    if isinstance(error, ClientError):
        return _of_code(str(error.response.get("Error", {}).get("Code") or ""), what)
    if isinstance(error, HTTPClientError | NoConnection):  # no connection, no answer in time
        return NotNow(f"{what}: AWS cannot be reached")
    return Refused(f"{what}: {type(error).__name__}")


def _of_code(code: str, what: str) -> Refused | NotNow:
    if code in LATER:
        return NotNow(f"{what}: {LATER[code]} ({code})")
    plain = NEVER.get(code) or NEVER.get(code.partition(".")[0], "AWS refused it")
    return Refused(f"{what}: {plain} ({code if _CODE.fullmatch(code) else 'no code'})")
