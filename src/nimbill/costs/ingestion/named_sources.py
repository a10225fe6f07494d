"""The sources somebody named, as places to look in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.import_roots import STORE, is_under
from nimbill.costs.ingestion.manifests import is_manifest
from nimbill.costs.ingestion.object_store import stored_files
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.storage_sources import (
    Found,
    LocalFiles,
    StorageSource,
    local_file,
    local_folder,
)

# where a CUR 2.0 keeps its manifests, beside the folder of its data
METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Look:
    """A place, and what was said about it.

    `only` is the one manifest that counts there. With `all_named` somebody named each file, so that
    one the manifest does not know is refused and not passed over.
    """

    place: StorageSource
    only: str | None = None
    all_named: bool = False


def places_of(
    sources: Sequence[str], roots: Sequence[str] | None, limits: Limits
) -> Iterator[Look]:
    """Files named one by one are one place; each folder and each address is one of its own."""
    named: list[Found] = []
    for source in sources:
        if not source or "\0" in source:
            raise refused(source, "source_missing")
        if source.startswith(STORE):
            yield _stored(source, limits)
        elif _is_folder(Path(source)):
            yield Look(_folder(Path(source), roots, limits))
        else:
            named.append(local_file(Path(source), roots))
    if len(named) == 1 and is_manifest(named[0].at):
        manifest = Path(named[0].key)
        folder = _folder_of(PurePosixPath(manifest))
        only = str(PurePosixPath(manifest).relative_to(folder))
        yield Look(_folder(Path(folder), roots, limits), only=only)
    elif named:
        yield Look(LocalFiles(", ".join(file.name for file in named), named), all_named=True)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError:
        raise refused(path.name, "source_denied") from None
    except OSError:
        raise refused(path.name, "source_missing") from None


def _folder(folder: Path, roots: Sequence[str] | None, limits: Limits) -> LocalFiles:
    if roots is not None and not is_under(Path(os.path.realpath(folder)), roots):
        raise refused(folder.name, "outside_roots")
    return local_folder(folder, roots, limits)


def _stored(address: str, limits: Limits) -> Look:
    place, one_object = stored_files(address, limits)
    if not one_object:
        return Look(place)
    (found,) = place.files()
    if not is_manifest(found.at):
        return Look(place, all_named=True)
    folder = _folder_of(PurePosixPath(found.key))
    query = urlsplit(address).query
    place, _ = stored_files(f"{STORE}{folder}?{query}" if query else f"{STORE}{folder}", limits)
    return Look(place, only=str(PurePosixPath(found.key).relative_to(folder)))


def _folder_of(manifest: PurePosixPath) -> PurePosixPath:
    """Where the parts of a manifest lie: beneath its folder, or beside that of the metadata."""
    names = manifest.parts[:-1]
    if METADATA in names:
        above = len(names) - 1 - names[::-1].index(METADATA)
        if above:
            return PurePosixPath(*names[:above])
    return manifest.parent
