"""Clients generated from the OpenAPI document; `make clients-check` makes and uses them."""
