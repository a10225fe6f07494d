"""The error of a lake that cannot be read or written, with a sentence about its cause."""

from collections.abc import Iterator
from contextlib import contextmanager

from nimbill.costs.store_errors import StoreError, classify_store_error
from nimbill.foundation.failure_causes import describe_os_error

_PLACE = "the disk of the lake"
_SENTENCES = {
    StoreError.denied: "The object store denied access to the bucket {} of the lake.",
    StoreError.bucket_missing: "The bucket {} of the lake does not exist.",
    StoreError.missing: "A file is missing in the bucket {} of the lake.",
    StoreError.unreachable: "The object store of the lake does not respond.",
}


class LakeError(OSError):
    """`cause` is a sentence without folders and credentials, which any user may read."""

    def __init__(self, number: int | None, cause: str) -> None:
        super().__init__(number, cause)
        self.cause = cause


@contextmanager
def translate_lake_errors(bucket: str | None, *, keep: type[OSError] = LakeError) -> Iterator[None]:
    """Replace errors of the disk and the object store, except those that the caller handles.

    `bucket` is None if the lake is a folder.
    """
    try:
        yield
    except (LakeError, keep):
        raise
    except OSError as error:
        kind = None if bucket is None else classify_store_error(error)
        if kind is not None:
            raise LakeError(None, _SENTENCES[kind].format(bucket)) from error
        raise LakeError(error.errno, describe_os_error(error, _PLACE)) from error
