"""The lines of a JSON file, between blank ones."""

from __future__ import annotations

from nimbill.costs.ingestion.json_lines import _find_lines


def test_lines_keep_their_numbers_between_blank_ones() -> None:
    block = b'{"a": 1}\n\n \r\n  {"b": 2} \r\r\n{"c": 3}\n\n{"d": 4}'

    assert [*_find_lines(block, 7)] == [
        (7, b'{"a": 1}'),
        (10, b'{"b": 2} '),
        (12, b'{"c": 3}'),
        (14, b'{"d": 4}'),
    ]
    # as the lines of a text are counted
    counted = enumerate(block.splitlines(), start=7)
    assert [number for number, text in counted if text.strip()] == [7, 10, 12, 14]


def test_blank_lines_are_not_kept() -> None:
    assert [*_find_lines(b"\n" * 10**6, 1)] == []
