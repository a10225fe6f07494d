"""The accounts of a customer, as it names them."""
