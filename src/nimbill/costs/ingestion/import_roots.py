"""Checks that a source named by a caller is inside the allowed import roots."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from nimbill.foundation.settings import ORGANISATION_PLACEHOLDER

# See docs/choices.md, import-roots.

S3_SCHEME = "s3://"


def roots_of_organisation(
    roots: Sequence[str], organisation_id: str, *, is_only_one: bool
) -> list[str]:
    """Return the roots from which this organisation may import.

    A root without the placeholder is shared, so it is left out if there are other organisations.
    """
    return [
        root.replace(ORGANISATION_PLACEHOLDER, organisation_id)
        for root in roots
        if is_only_one or ORGANISATION_PLACEHOLDER in root
    ]


def resolve_allowed_source(source: str, roots: Sequence[str]) -> str | None:
    """Return the source with links resolved, or None if it is under no root.

    A relative path is relative to the first local root. Callers can only choose bucket and key of
    an object store: endpoint and region come from the root, so that a caller cannot make the
    service connect to a machine of their choice.
    """
    if source.startswith(S3_SCHEME):
        return _resolve_object_store(source, roots)
    if not source or "\0" in source or "://" in source:
        return None
    local_roots = [root for root in roots if not root.startswith(S3_SCHEME)]
    if not local_roots:
        return None
    real = Path(os.path.realpath(Path(local_roots[0]) / source))
    return str(real) if is_under(real, local_roots) else None


def is_under(real: Path, roots: Sequence[str]) -> bool:
    """The links of `real` must already be resolved."""
    return any(
        real.is_relative_to(os.path.realpath(root))
        for root in roots
        if not root.startswith(S3_SCHEME)
    )


def _resolve_object_store(source: str, roots: Sequence[str]) -> str | None:
    path = source.removeprefix(S3_SCHEME)
    if any(character in path for character in "?#@\0\\") or not path.isprintable():
        return None
    names = path.rstrip("/").split("/")
    if any(name in ("", ".", "..") for name in names):
        return None
    for root in roots:
        if _is_under_prefix(names, root):
            query = urlsplit(root).query
            return f"{source}?{query}" if query else source
    return None


def is_key_under(key: str, roots: Sequence[str]) -> bool:
    """`key` begins with the bucket, as in bucket/folder/file."""
    names = [name for name in key.split("/") if name]
    return any(_is_under_prefix(names, root) for root in roots)


def _is_under_prefix(names: Sequence[str], root: str) -> bool:
    parts = urlsplit(root)
    root_names = [parts.netloc, *(name for name in parts.path.split("/") if name)]
    return root.startswith(S3_SCHEME) and list(names[: len(root_names)]) == root_names
