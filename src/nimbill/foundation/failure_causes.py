"""Sentences that tell an operator why a file operation failed."""

import errno

DISK = "the disk"

# The place replaces {}. Other errors are described by the system's own text.
_SENTENCES = {
    errno.ENOSPC: "No space left on {}.",
    errno.EDQUOT: "No space left on {}: its quota is used up.",
    errno.EFBIG: "No space left on {}: a file exceeds the largest size that is allowed.",
    errno.EIO: "Reading or writing failed on {}.",
    errno.EROFS: "Nothing can be written to {}: it is read-only.",
    errno.EMFILE: "Too many files are open.",
    errno.ENFILE: "Too many files are open.",
    errno.ENOMEM: "There is not enough memory.",
}


def describe_os_error(error: OSError, place: str | None = None) -> str:
    """Name the place, or else the file of the error; never repeat more of the error's message."""
    where = place or (str(error.filename) if error.filename else None)
    sentence = _SENTENCES.get(error.errno or 0)
    if sentence is not None:
        return sentence.format(where or DISK)
    reason = error.strerror or type(error).__name__
    return f"{where}: {reason}" if where else f"The operating system refused: {reason}"
