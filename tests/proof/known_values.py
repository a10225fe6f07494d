"""Narrows the OpenAPI document to values that an organisation knows, so that requests succeed.

A generator that only reads the document chooses any month, vendor and account number. Almost all
of them are unknown to the organisation, and no chain of requests would reach an invoice.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from nimbill.application.openapi import LINK_BODY
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.rules import OneOf
from tests.contract.tenants import PAYER, PLAIN_VALUES

VENDOR = PLAIN_VALUES["vendor"]
MONTH = PLAIN_VALUES["month"]
# allowed for every number of a setting, whatever its limits
SMALL_NUMBERS = {"type": "number", "enum": [0, 0.01, 0.05]}
ONE_ID = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}


def narrow_document(document: Mapping[str, Any], accounts: Sequence[str]) -> dict[str, Any]:
    """Parameters and fields with these names take these values only; links replace the ids."""
    narrowed = copy.deepcopy(dict(document))
    fields = {
        "vendor": {"type": "string", "enum": [VENDOR]},
        "month": {"type": "string", "enum": [MONTH]},
        "customer_id": {"type": "string", "enum": list(accounts)},
        "account_id": {"type": "string", "enum": [PAYER]},
        "exchange_rate": {"type": "number", "enum": [1, 110.5, 150]},
        "billing_groups": ONE_ID,
        "group": ONE_ID,
        "bulk": {"type": "boolean", "enum": [True]},
        "settings": {"type": "object", "additionalProperties": False},
        "internal": {"type": "boolean", "enum": [True]},
    }
    schemas = narrowed["components"]["schemas"]
    for schema in schemas.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
            _replace_fields(schema["properties"], fields)
    _narrow_group(schemas["BillingGroupCreate"])
    for methods in narrowed["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] in fields:
                    parameter["schema"] = fields[parameter["name"]]
            for response in operation["responses"].values():
                _name_link_bodies(response.get("links", {}))
    return narrowed


def _name_link_bodies(links: Mapping[str, dict[str, Any]]) -> None:
    """Name them as OpenAPI does; see openapi_links.py for why the document does not."""
    for link in links.values():
        if LINK_BODY in link:
            link["requestBody"] = link.pop(LINK_BODY)


def _replace_fields(properties: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for name in properties.keys() & fields.keys():
        properties[name] = fields[name]


def _narrow_group(schema: dict[str, Any]) -> None:
    """A group with a setting, and without the ids that only links know."""
    for name in ("project_id", "invoice_template_id"):
        del schema["properties"][name]
    schema["properties"]["invoices"] = {
        "type": "object",
        "properties": {VENDOR: _narrow_setting()},
        "required": [VENDOR],
        "additionalProperties": False,
    }
    schema["required"] = [*schema["required"], "invoices"]


def _narrow_setting() -> dict[str, Any]:
    """Values that a new billing group may have."""
    properties = {
        name: {"type": "string", "enum": list(row.create.values)}
        if isinstance(row.create, OneOf)
        else SMALL_NUMBERS
        for name, row in ALLOWED_VALUES.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
