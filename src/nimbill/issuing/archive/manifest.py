"""The manifest of an export: which files it has, and what the audit log was at that time."""

import msgspec

from nimbill.foundation import exact_json

FORMAT = "nimbill-archive-1"
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
INDEX, AUDIT_CHAIN = "index.csv", "audit-log.jsonl"
INDEX_COLUMNS = (
    "kind",
    "number",
    "revision",
    "issue_date",
    "month",
    "vendor",
    "company_id",
    "counterparty",
    "currency",
    "pre_tax",
    "tax",
    "total",
    "state",
    "document",
    "pdf",
)


class ArchivedFile(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    bytes: int
    sha256: str


class AuditHead(msgspec.Struct, frozen=True, kw_only=True):
    """The last row of the audit log in the export."""

    seq: int
    hash: str


class ArchiveManifest(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    organisation_id: str
    create_time: str
    documents: int
    selected: dict[str, str]  # the filter
    audit_head: AuditHead | None
    public_key: str
    files: list[ArchivedFile]


def encode_manifest(manifest: ArchiveManifest) -> bytes:
    return exact_json.encode(manifest)


def decode_manifest(content: bytes) -> ArchiveManifest:
    """Raise msgspec.DecodeError for anything else."""
    return _decoder.decode(content)


_decoder = msgspec.json.Decoder(ArchiveManifest)
