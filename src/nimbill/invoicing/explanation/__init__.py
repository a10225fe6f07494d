"""How each amount of an invoice came about, down to services and days."""
