"""Bodies of the CSV exports."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, stated
from nimbill.http.request_bodies import Body, Success


class ExportRequest(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("CSV exports")

    redo: bool


class ExportPath(Success, frozen=True, kw_only=True):
    """`path` is a link to the file."""

    basis: ClassVar[Basis] = stated("CSV exports")

    path: str


class ExportUrl(Success, frozen=True, kw_only=True):
    """`url` is a link to the file."""

    basis: ClassVar[Basis] = stated("CSV exports")

    url: str
