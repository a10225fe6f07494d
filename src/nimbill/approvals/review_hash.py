"""The hash that binds an approval to what was reviewed."""

from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any

from nimbill.foundation import exact_json


def hash_review(
    kind: str,
    target: Mapping[str, str],
    body: Any,
    review: Mapping[str, Any],
    makers: Collection[str],
) -> str:
    """SHA-256 over canonical JSON: equal contents have equal hashes, whatever their order."""
    content = {
        "kind": kind,
        "target": dict(target),
        "body": body,
        "review": review,
        "makers": sorted(makers),
    }
    # encoded once before, so that structs and enums are plain values as in the database
    plain = exact_json.decode_stored(exact_json.encode(content).decode())
    return sha256(exact_json.encode_canonical(plain)).hexdigest()
