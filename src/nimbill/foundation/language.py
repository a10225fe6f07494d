"""The languages of printed documents and messages."""

from enum import StrEnum


class Language(StrEnum):
    ja = "ja"
    en = "en"
