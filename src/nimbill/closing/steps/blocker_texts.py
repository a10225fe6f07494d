"""What is missing before a step of a month is done, in one sentence for each reason."""

from collections.abc import Mapping

# reason to what is missing and what to do
BLOCKER_TEXTS: Mapping[str, str] = {
    "month_not_over": "The month has not ended yet, in UTC.",
    "month_closed": "The month is closed. Reopen it first.",
    "no_costs": "No costs of the vendor were imported. Import them.",
    "import_parked": "An import is parked. Release or replace it.",
    "import_running": "An import is waiting or running. Wait until it is done.",
    "account_in_no_group": "Accounts with usage are in no billing group. Assign them.",
    "entry_undecided": "Entries are not applied to any month. Apply them, or leave them for later.",
    "settings_missing": "Billing groups have no saved settings. Save settings for the month.",
    "rate_missing": "Billing groups have no exchange rate. Save a rate for the month.",
    "no_invoices": "The month has no invoice. Create invoices.",
    "invoice_missing": "Billing groups with usage or applied entries have no invoice. Create it.",
    "invoices_outdated": (
        "The rate, terms, memo or items of billing groups were changed after the invoice. "
        "Create it again."
    ),
    "invoices_unapproved": "Invoices were not approved yet. Request their approval.",
    "invoices_unsent": "Invoices were not sent to the customers yet. Send them.",
    "run_in_progress": "Invoices are being created. Wait until the run is done.",
    "amount_differs": "Invoices differ from the current costs. Create them again.",
    "invoice_cancelled": "Costs are on cancelled invoices only. Close the month without them.",
    "not_on_invoice": "Costs are on no invoice. Create the invoices again.",
    "not_in_costs": "Invoices have usage that the costs do not contain. Create them again.",
    "entries_differ": "The vendor's entries differ from its costs. Import the costs again.",
    "entry_not_on_invoice": "Applied entries are on no invoice. Create the invoices again.",
    "entry_not_applied": "Invoices have entries that are not applied. Create them again.",
    "entry_changed": "Entries were changed after the invoice. Create it again.",
    "entry_invoiced_twice": "Entries are on two invoices. Create these again.",
    "not_tied_out": "The vendor's charges do not tie out with the invoices. See the tie-out.",
    "drift_uncorrected": "Costs differ from those the month was closed with. Correct the month.",
}
