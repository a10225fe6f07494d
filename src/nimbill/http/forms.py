"""Parse forms: urlencoded and multipart, with or without file names."""

from io import BytesIO
from urllib.parse import parse_qsl

from multipart import MultipartError, MultipartParser, parse_options_header

from nimbill.foundation.errors import Invalid, Unreadable

# See docs/choices.md, form-encodings.

FIELDS_MAX = 50
FORM_BYTES_MAX = 65_536
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


def parse_form(
    content_type: str, body: bytes, *, bytes_max: int = FORM_BYTES_MAX
) -> dict[str, str]:
    """Return the fields of a form. A repeated field, NUL or invalid UTF-8 is refused."""
    if len(body) > bytes_max:
        raise Unreadable(413, "body_too_large", f"The form is larger than {bytes_max >> 10} KiB.")
    media_type, options = parse_options_header(content_type)
    if media_type == "application/x-www-form-urlencoded":
        pairs = _parse_urlencoded(body)
    elif media_type == "multipart/form-data":
        pairs = _parse_multipart(body, options.get("boundary", ""), bytes_max)
    else:
        raise Unreadable(415, "media_type", "The body must be a form.")
    return _require_unique_fields(pairs)


def _parse_urlencoded(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            strict_parsing=False,
            errors="strict",
            max_num_fields=FIELDS_MAX,
        )
    except ValueError:
        raise _malformed_form() from None


def _parse_multipart(body: bytes, boundary: str, bytes_max: int) -> list[tuple[str, str]]:
    if not boundary:
        raise _malformed_form()
    try:
        parser = MultipartParser(
            BytesIO(body),
            boundary,
            part_limit=FIELDS_MAX,
            partsize_limit=bytes_max,
            spool_limit=bytes_max,
            memory_limit=4 * bytes_max,
            strict=False,
        )
        return [(part.name, part.raw.decode("utf-8")) for part in parser]
    except (MultipartError, ValueError):
        raise _malformed_form() from None


def _require_unique_fields(pairs: list[tuple[str, str]]) -> dict[str, str]:
    fields = dict(pairs)
    if len(fields) != len(pairs) or any("\0" in name + value for name, value in pairs):
        raise _malformed_form()
    return fields


def _malformed_form() -> Invalid:
    return Invalid("malformed_body", "The form cannot be read.")
