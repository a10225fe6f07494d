"""Translation of AWS errors into texts that do not repeat anything that was sent to AWS."""

import re
from collections.abc import Mapping

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnection

from nimbill.legacy.provisioning.provisioner import PermanentError, TransientError

# errors that disappear by themselves; boto3 has already retried the request
TRANSIENT: Mapping[str, str] = {
    "InsufficientInstanceCapacity": "AWS has no capacity for this type at the moment",
    "InsufficientHostCapacity": "AWS has no capacity for this type at the moment",
    "InternalError": "AWS had an internal error",
    "InternalFailure": "AWS had an internal error",
    "RequestLimitExceeded": "AWS is throttling requests",
    "Throttling": "AWS is throttling requests",
    "ThrottlingException": "AWS is throttling requests",
    "ServiceUnavailable": "AWS is unavailable",
    "Unavailable": "AWS is unavailable",
    "IncorrectInstanceState": "the instance is changing its state",
    "IncorrectState": "the instance is changing its state",
}

PERMANENT: Mapping[str, str] = {
    "AuthFailure": "AWS rejects the credential",
    "InvalidClientTokenId": "AWS rejects the credential",
    "SignatureDoesNotMatch": "AWS rejects the credential",
    "UnrecognizedClientException": "AWS rejects the credential",
    "ExpiredToken": "the credential has expired",
    "RequestExpired": "the credential has expired",
    "OptInRequired": "the account may not use this region",
    "UnauthorizedOperation": "the credential does not permit it",
    "AccessDenied": "the credential does not permit it",
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
    "VolumeTypeNotAvailableInZone": "the volume type is not available in this zone",
    "InvalidParameterValue": "a value of the provision is not accepted",
    "InvalidParameterCombination": "the values of the provision cannot be combined",
    "VPCIdNotSpecified": "the account has no default network in this region",
}

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,79}")


def translate_error(error: Exception, failure: str) -> PermanentError | TransientError:
    """`failure` says what could not be done; the text of the result begins with it."""
    if isinstance(error, ClientError):
        code = str(error.response.get("Error", {}).get("Code") or "")
        return _translate_code(code, failure)
    if isinstance(error, HTTPClientError | NoConnection):  # also a timeout
        return TransientError(f"{failure}: AWS cannot be reached")
    return PermanentError(f"{failure}: {type(error).__name__}")


def _translate_code(code: str, failure: str) -> PermanentError | TransientError:
    if code in TRANSIENT:
        return TransientError(f"{failure}: {TRANSIENT[code]} ({code})")
    reason = PERMANENT.get(code) or PERMANENT.get(code.partition(".")[0], "AWS refused it")
    return PermanentError(f"{failure}: {reason} ({code if _CODE.fullmatch(code) else 'no code'})")
