"""Usage by one tag and by two tags, as tables and as graph series, at the customer's price."""
