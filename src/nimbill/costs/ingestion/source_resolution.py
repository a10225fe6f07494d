"""Resolves the paths and addresses of an import into storage sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import urlsplit

from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.import_roots import S3_SCHEME, is_key_under, is_under
from nimbill.costs.ingestion.manifests import is_manifest
from nimbill.costs.ingestion.object_store import list_object_store
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.storage_sources import (
    LocalFiles,
    SourceFile,
    StorageSource,
    find_local_file,
    list_local_folder,
)

# a CUR 2.0 export keeps its manifests in this folder, beside the folder of its data
METADATA_FOLDER = "metadata"
METADATA_DEPTH_MAX = 3  # metadata/BILLING_PERIOD=2026-09/run/manifest.json


@dataclass(frozen=True, slots=True)
class SourceSelection:
    """A source, and which of its files may be used.

    If `manifest_name` is set, all other manifests are ignored. With `explicit_files` the caller
    named each file, so a file that the manifest does not list is refused instead of ignored.
    """

    source: StorageSource
    manifest_name: str | None = None
    explicit_files: bool = False


def resolve_sources(
    sources: Sequence[str], roots: Sequence[str] | None, limits: Limits
) -> Iterator[SourceSelection]:
    """All single files together form one source; each folder and each address is another one."""
    files: list[SourceFile] = []
    for source in sources:
        if not source or "\0" in source:
            raise delivery_error(source, "source_missing")
        if source.startswith(S3_SCHEME):
            yield _resolve_address(source, roots, limits)
        elif _is_folder(Path(source)):
            yield SourceSelection(_list_folder(Path(source), roots, limits))
        else:
            files.append(find_local_file(Path(source), roots))
    if len(files) == 1 and is_manifest(files[0].path):
        manifest = PurePosixPath(files[0].key)
        folder = _parts_folder(manifest, lambda parent: _is_allowed_folder(parent, roots))
        name = str(manifest.relative_to(folder))
        yield SourceSelection(_list_folder(Path(folder), roots, limits), manifest_name=name)
    elif files:
        names = ", ".join(file.name for file in files)
        yield SourceSelection(LocalFiles(names, files), explicit_files=True)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError:
        raise delivery_error(path.name, "source_denied") from None
    except OSError:
        raise delivery_error(path.name, "source_missing") from None


def _list_folder(folder: Path, roots: Sequence[str] | None, limits: Limits) -> LocalFiles:
    if not _is_allowed_folder(folder, roots):
        raise delivery_error(folder.name, "outside_roots")
    return list_local_folder(folder, roots, limits)


def _is_allowed_folder(folder: PurePath, roots: Sequence[str] | None) -> bool:
    return roots is None or is_under(Path(os.path.realpath(folder)), roots)


def _resolve_address(address: str, roots: Sequence[str] | None, limits: Limits) -> SourceSelection:
    """Refuse keys outside `roots` before anything is listed: names are not for everybody."""
    parts = urlsplit(address)
    _refuse_key_outside(parts.netloc + parts.path, roots)
    source, is_object = list_object_store(address, limits)
    if not is_object:
        return SourceSelection(source)
    (file,) = source.list_files()
    if not is_manifest(file.path):
        return SourceSelection(source, explicit_files=True)
    manifest = PurePosixPath(file.key)
    folder = _parts_folder(
        manifest, lambda parent: roots is None or is_key_under(str(parent), roots)
    )
    query = parts.query
    source, _ = list_object_store(
        f"{S3_SCHEME}{folder}?{query}" if query else f"{S3_SCHEME}{folder}", limits
    )
    return SourceSelection(source, manifest_name=str(manifest.relative_to(folder)))


def _refuse_key_outside(key: str, roots: Sequence[str] | None) -> None:
    if roots is not None and not is_key_under(key, roots):
        raise delivery_error(PurePosixPath(key).name, "outside_roots")


def _parts_folder(
    manifest: PurePosixPath, is_allowed: Callable[[PurePosixPath], bool]
) -> PurePosixPath:
    """Return the folder of the manifest, or the parent of the metadata folder it is in.

    Folders above the import root, and those far above the manifest, may have that name by chance.
    """
    for folder in list(manifest.parents)[:METADATA_DEPTH_MAX]:
        if folder.name == METADATA_FOLDER and folder.parent.name and is_allowed(folder.parent):
            return folder.parent
    return manifest.parent
