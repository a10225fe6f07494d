"""The languages of printed documents and messages."""

from enum import StrEnum


class Language(StrEnum):
    ja = "ja"
    en = "en"


class LanguageChange(StrEnum):
    """A language in an update; empty text clears it."""

    ja = "ja"
    en = "en"
    cleared = ""
