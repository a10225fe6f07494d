"""Whether a source that a caller names lies where imports may come from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from nimbill.foundation.basis import chosen

basis = chosen("import-roots")

STORE = "s3://"


def allowed_source(source: str, roots: Sequence[str]) -> str | None:
    """The source as `deliver` takes it, links resolved; None where it is under no root.

    A path that does not begin at the top is meant under the first local root. What a caller says of
    an object store is its bucket and key alone: endpoint and region are those of the root it is
    under, so that nobody can point the service at a machine of his choice.
    """
    if source.startswith(STORE):
        return _stored(source, roots)
    if not source or "\0" in source or "://" in source:
        return None
    local = [root for root in roots if not root.startswith(STORE)]
    if not local:
        return None
    real = Path(os.path.realpath(Path(local[0]) / source))
    return str(real) if is_under(real, local) else None


def is_under(real: Path, roots: Sequence[str]) -> bool:
    """Of a path whose links are resolved already."""
    return any(
        real.is_relative_to(os.path.realpath(root)) for root in roots if not root.startswith(STORE)
    )


def _stored(source: str, roots: Sequence[str]) -> str | None:
    asked = source.removeprefix(STORE)
    if any(sign in asked for sign in "?#@\0\\") or not asked.isprintable():
        return None
    names = asked.rstrip("/").split("/")
    if any(name in ("", ".", "..") for name in names):
        return None
    for root in roots:
        parts = urlsplit(root)
        under = [parts.netloc, *(name for name in parts.path.split("/") if name)]
        if root.startswith(STORE) and names[: len(under)] == under:
            return f"{source}?{parts.query}" if parts.query else source
    return None
