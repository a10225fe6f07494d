"""Usage by account, as tables and as graph series, at the customer's price."""
