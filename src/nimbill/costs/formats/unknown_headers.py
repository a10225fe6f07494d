"""Says what an unknown header lacks: the separator found, or the nearest format's columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nimbill.costs.formats.format import Format, normalize_column_name

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
COLUMNS_MAX = 8
HEADER_LENGTH_MAX = 100_000  # a longer first line is not the header of a cost file


def find_format(formats: Sequence[Format], header: Sequence[str]) -> Format | None:
    names = _normalize(header)
    return next(
        (
            format_
            for format_ in formats
            if all(_has_any(names, columns.split("|")) for columns in format_.identifying_columns)
        ),
        None,
    )


def describe_unknown_header(formats: Sequence[Format], header: Sequence[str]) -> str:
    """Return a sentence without its full stop."""
    text = ",".join(header)
    if len(text) > HEADER_LENGTH_MAX:
        return "The first line is too long for a header"
    separators = describe_separators(formats, text)
    if separators is not None:
        return separators
    nearest = max(formats, key=lambda format_: _compare(format_, header))
    if not _list_found(nearest, header):
        titles = ", ".join(format_.title for format_ in formats)
        return f"The first line has no column of a supported file ({titles})"
    missing = _list_missing(nearest, header)
    more = f" and {len(missing) - COLUMNS_MAX} more" if len(missing) > COLUMNS_MAX else ""
    names = ", ".join(missing[:COLUMNS_MAX])
    return f"The nearest is the {nearest.title}; this file lacks {names}{more}"


def describe_separators(formats: Sequence[Format], text: str) -> str | None:
    """Return the same for a known header with other separators than commas, otherwise None."""
    for separator, plural in SEPARATORS.items():
        format_ = find_format(formats, text.split(separator))
        if format_ is not None:
            return f"It is the header of the {format_.title} with {plural}; use commas instead"
    return None


def _compare(format_: Format, header: Sequence[str]) -> tuple[int, int, int]:
    """The nearest format has most of its columns in the header and lacks the fewest."""
    names = _normalize(header)
    needed = [column for column in _list_needed(format_) if _has_any(names, column)]
    missing = len(_list_missing(format_, header))
    return len(needed), -missing, len(_list_found(format_, header))


def _list_found(format_: Format, header: Sequence[str]) -> list[str]:
    """Return the fields of a format whose columns the header contains."""
    names = _normalize(header)
    return [field for field, column in format_.columns.items() if _has_any(names, column.names)]


def _list_missing(format_: Format, header: Sequence[str]) -> list[str]:
    names = _normalize(header)
    return [
        " or ".join(alternatives)
        for alternatives in _list_needed(format_)
        if not _has_any(names, alternatives)
    ]


def _list_needed(format_: Format) -> list[tuple[str, ...]]:
    """Return the alternative names of each column without which a file is not of the format."""
    identifying = [tuple(columns.split("|")) for columns in format_.identifying_columns]
    required = [column.names for column in format_.columns.values() if column.required]
    # the spelling of a name may differ between the two lists
    by_name = {normalize_column_name(names[0]): names for names in [*identifying, *required]}
    return list(by_name.values())


def _normalize(header: Sequence[str]) -> frozenset[str]:
    return frozenset(map(normalize_column_name, header))


def _has_any(names: Collection[str], alternatives: Collection[str]) -> bool:
    return any(normalize_column_name(name) in names for name in alternatives)
