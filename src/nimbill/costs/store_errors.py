"""Tells errors of an object store apart; only parts of their messages distinguish them."""

from enum import Enum

_DENIED = (
    "ACCESS_DENIED",
    "FORBIDDEN",
    "status 403",
    "INVALID_ACCESS_KEY",
    "SIGNATURE",
    "status 401",
)
_BUCKET_MISSING = ("NO_SUCH_BUCKET", "bucket does not exist", "NoSuchBucket")
_MISSING = ("NO_SUCH_KEY", "status 404", "does not exist", "Path does not exist")


class StoreError(Enum):
    denied = "denied"
    bucket_missing = "bucket_missing"
    missing = "missing"
    unreachable = "unreachable"


def classify_store_error(error: OSError) -> StoreError | None:
    """None for an error of the local disk: errors of the store have no errno."""
    if error.errno is not None:
        return None
    message = str(error)
    if any(text in message for text in _DENIED):
        return StoreError.denied
    if any(text in message for text in _BUCKET_MISSING):
        return StoreError.bucket_missing
    if isinstance(error, FileNotFoundError) or any(text in message for text in _MISSING):
        return StoreError.missing
    return StoreError.unreachable
