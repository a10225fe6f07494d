"""An independent CSV reader that follows the grammar of RFC 4180."""

from __future__ import annotations

CRLF = "\r\n"


class NotCsv(Exception):
    """The text is outside the grammar; says at which character."""


def parse(text: str) -> list[list[str]]:
    """Records of a file in which every record, the last included, ends with CRLF."""
    records: list[list[str]] = []
    at = 0
    while at < len(text):
        record, at = _record(text, at)
        records.append(record)
    return records


def _record(text: str, at: int) -> tuple[list[str], int]:
    fields = []
    while True:
        field, at = _field(text, at)
        fields.append(field)
        if text.startswith(",", at):
            at += 1
        elif text.startswith(CRLF, at):
            return fields, at + len(CRLF)
        else:
            raise NotCsv(at)


def _field(text: str, at: int) -> tuple[str, int]:
    if text.startswith('"', at):
        return _escaped(text, at + 1)
    end = at
    while end < len(text) and text[end] not in ',"\r\n':
        end += 1
    return text[at:end], end


def _escaped(text: str, at: int) -> tuple[str, int]:
    """Up to the quote that is not doubled."""
    content = []
    while True:
        end = text.find('"', at)
        if end < 0:
            raise NotCsv(at)
        content.append(text[at:end])
        if not text.startswith('""', end):
            return '"'.join(content), end + 1
        at = end + 2
