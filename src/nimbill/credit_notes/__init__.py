"""Credit notes, which correct invoices that were sent; an issued note never changes."""
