"""What a closed month refuses; the API document and docs/closed-months.md show this table."""

from enum import Enum

from nimbill.costs.months.records import MonthState
from nimbill.foundation.errors import Conflict


class MonthChange(Enum):
    """A change that is refused once the month is closed, and what happens then.

    Routes declare theirs as `closed_month`.
    """

    save_terms = (
        "409 `month_closed`: no terms of the month are saved. Copying the default terms leaves out "
        "vendors whose month is closed, and is refused if no other vendor is left."
    )
    use_default_terms = "409 `month_closed`: the terms of the month stay as they are."
    save_rates = "409 `month_closed`: no exchange rate of the month is saved."
    create_invoices = (
        "409 `month_closed`: no invoice is created. A run that is under way skips its remaining "
        "billing groups with the reason `month_closed`."
    )
    replace_invoice = "409 `month_closed`: the invoice stays as it was sent."
    decide_drift = "409 `month_closed`, if the decision is an entry in a month that is closed."
    change_entries = "409 `month_closed`: no entry is applied to the month or taken back from it."
    import_costs = (
        "Nothing is changed: the import ends as `drift`, or as `unchanged` if its sums are equal."
    )
    release_import = "409 `month_closed`: the import stays parked."
    close = "409 `month_closed`: the month is closed already."

    def refuse_if_closed(self, state: MonthState) -> None:
        if state.closed:
            raise Conflict("month_closed", "This month is closed.")
