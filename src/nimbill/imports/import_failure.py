"""Why an import failed, as sentences that any user of the organisation may read."""

import errno

from nimbill.costs.lake.lake_error import LakeError
from nimbill.costs.store_errors import StoreError, classify_store_error
from nimbill.foundation.failure_causes import describe_os_error

DATA_FOLDER = "the disk of the data folder"
STORE_SENTENCES = {
    StoreError.denied: "The object store denied access to the lake.",
    StoreError.bucket_missing: "The bucket of the lake does not exist.",
    StoreError.missing: "A file of the lake is missing.",
    StoreError.unreachable: "The object store of the lake does not respond.",
}
SPARK_FAILURE = "The Spark cluster failed. Its log contains the reason."
# DuckDB reports errors of the system in the text of its own errors.
DUCKDB_TEXTS = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "File too large": errno.EFBIG,
    "Input/output error": errno.EIO,
    "Too many open files": errno.EMFILE,
    "Out of Memory": errno.ENOMEM,
    "Cannot allocate memory": errno.ENOMEM,
}


class PreparationFailed(Exception):
    """The process that prepares an import failed; `cause` is None if it is unknown."""

    def __init__(self, cause: str | None) -> None:
        super().__init__(cause)
        self.cause = cause


def describe_failure(error: Exception) -> str | None:
    """Name the disk or store that failed, without folders and credentials. None if unknown."""
    if isinstance(error, PreparationFailed | LakeError):
        return error.cause
    if isinstance(error, MemoryError):
        return describe_os_error(OSError(errno.ENOMEM, ""))
    if isinstance(error, OSError):
        return _describe_os_error(error)
    # Loaded when needed: the process that prepares an import has no database, and the database
    # library is more than half of what it would load at its start.
    from nimbill.database.tenant_scope import is_database_unavailable

    if is_database_unavailable(error):
        return "The database cannot be reached or is overloaded."
    library = type(error).__module__.partition(".")[0]
    if library in ("duckdb", "_duckdb"):
        return _describe_duckdb_error(str(error))
    return SPARK_FAILURE if library in ("py4j", "pyspark") else None


def _describe_os_error(error: OSError) -> str:
    kind = classify_store_error(error)
    return STORE_SENTENCES[kind] if kind else describe_os_error(error, DATA_FOLDER)


def _describe_duckdb_error(message: str) -> str | None:
    for text, number in DUCKDB_TEXTS.items():
        if text in message:
            return describe_os_error(OSError(number, text), DATA_FOLDER)
    return None
