"""People at a customer, and who of them receives invoices by mail."""
