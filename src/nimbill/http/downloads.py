"""Responses that a browser saves as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litestar import Response

CSV_TYPE = "text/csv"


def build_csv_download(file_name: str, content: bytes) -> Response[bytes]:
    """Return a CSV file under a name that consists of ids, months and vendors."""
    from litestar import Response  # commands read CSV files too, and start without it

    headers = {"Content-Disposition": f'attachment; filename="{file_name}"'}
    return Response(content, media_type=CSV_TYPE, headers=headers)
