"""The fixed texts on printed credit notes that differ from those of invoices."""

from collections.abc import Mapping
from types import MappingProxyType

from nimbill.foundation.language import Language
from nimbill.invoicing.pdf.labels import labels_for

# each text in Japanese, then in English
# fmt: off
CREDIT_NOTE_LABELS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "title":           ("返還請求書", "Credit note"),
    "qualified_title": ("適格返還請求書", "Credit note (qualified return invoice)"),
    "number":          ("返還請求書番号", "Credit note number"),
    "greeting":        ("下記のとおり、ご請求額を減額いたします。",
                        "We credit you for the following."),
    "total_due":       ("返還金額（税込）", "Total credited"),
    "invoice":         ("対象請求書", "Original invoice"),
    "invoice_date":    ("請求書発行日", "Date of the invoice"),
    "month":           ("取引年月", "Month of supply"),
    "charge":          ("", ""),
    "after":           ("返還金額（{}）", "Amount ({})"),
    "credits":         ("返還の内容", "Credited"),
    "rest":            ("{}分のご請求額（残額の全額）", "What was left of the invoice for {}"),
    "returned":        ("返還済（{}）", "Returned already ({})"),
    "corrected_total": ("訂正後のご請求額（税込）", "Total of the corrected invoice"),
    "remarks":         ("返還の理由", "Reason"),
})
# fmt: on


def credit_note_labels_for(language: Language) -> dict[str, str]:
    """All labels of the layout, with those of credit notes."""
    index = 0 if language is Language.ja else 1
    return labels_for(language) | {name: pair[index] for name, pair in CREDIT_NOTE_LABELS.items()}
