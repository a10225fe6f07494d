"""The headings of CSV files in the language of the customer."""

from __future__ import annotations

from nimbill.foundation.language import Language
from nimbill.invoicing.exports.columns import INVOICE_ACCOUNT, INVOICE_TAG
from nimbill.portal.csv_headings import JAPANESE, translate_headings
from nimbill.portal.reports.usage_csv import REPORTS, build_header

HEADERS = [INVOICE_ACCOUNT, INVOICE_TAG, *(build_header(report) for report in REPORTS.values())]


def test_every_heading_has_a_japanese_name_that_is_used() -> None:
    translated = [translate_headings(header, Language.ja) for header in HEADERS]

    assert {name for header in HEADERS for name in header} == set(JAPANESE)
    assert all(len(set(names)) == len(names) for names in translated)
    assert all(not name.isascii() for names in translated for name in names)


def test_the_specified_names_stay_without_a_language_and_in_english() -> None:
    for language in (None, Language.en):
        assert translate_headings(INVOICE_TAG, language) == INVOICE_TAG
