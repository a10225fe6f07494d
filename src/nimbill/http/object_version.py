"""The version of an editable object as an ETag, for callers that need no web framework."""

from dataclasses import dataclass
from hashlib import sha256

from nimbill.foundation import exact_json

DIGEST_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """What can be edited of an object, and its resource in the audit log."""

    values: object
    resource: str

    @property
    def etag(self) -> str:
        return compute_etag(self.values)


def compute_etag(values: object) -> str:
    digest = sha256(exact_json.encode(values)).hexdigest()
    return f'"{digest[:DIGEST_CHARACTERS]}"'
