"""The invoices of a customer: what is printed on them, without the vendor's cost."""
