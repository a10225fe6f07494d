"""Reports of usage as files: CSV by account or group, and the invoices of a month as FOCUS."""
