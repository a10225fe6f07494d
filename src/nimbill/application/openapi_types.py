"""How the OpenAPI document shows types that the framework would document in another way."""

from decimal import Decimal
from typing import Any

import msgspec
from litestar.openapi.spec import OpenAPIType, Schema
from litestar.plugins import OpenAPISchemaPlugin
from litestar.typing import FieldDefinition

from nimbill.foundation.vendor_names import BILLED_VENDORS, NAME_PATTERN, VENDORS, VendorRule
from nimbill.foundation.vendors import get_vendor_rule


class DecimalSchemaPlugin(OpenAPISchemaPlugin):
    """Documents decimals as JSON numbers; the framework would document them as strings."""

    @staticmethod
    def is_plugin_supported_type(value: Any) -> bool:
        return value is Decimal

    def to_openapi_schema(self, field_definition: Any, schema_creator: Any) -> Schema:  # noqa: ARG002
        return Schema(type=OpenAPIType.NUMBER)


class VendorSchemaPlugin(OpenAPISchemaPlugin):
    """Documents the known vendors, and that an organisation may enable others."""

    def is_plugin_supported_field(self, field_definition: FieldDefinition) -> bool:
        return _find_rule(field_definition) is not None

    def to_openapi_schema(self, field_definition: Any, schema_creator: Any) -> Schema:  # noqa: ARG002
        rule = _find_rule(field_definition)
        assert rule is not None, "only vendors are supported"
        return Schema(any_of=_list_alternatives(rule))


def _find_rule(field: FieldDefinition) -> VendorRule | None:
    """Fields of bodies have the rule in `extra`, parameters in the metadata of their type."""
    metadata = [meta.extra for meta in field.metadata if isinstance(meta, msgspec.Meta)]
    return next(filter(None, map(get_vendor_rule, (field.extra, *metadata))), None)


def _list_alternatives(rule: VendorRule) -> list[Schema]:
    return [
        Schema(type=OpenAPIType.STRING, enum=rule.list_names(BILLED_VENDORS)),
        Schema(
            type=OpenAPIType.STRING,
            pattern=NAME_PATTERN,
            description="a vendor that the organisation setting `vendors` enables",
        ),
    ]


def describe_uploaded_vendor() -> dict[str, Any]:
    """The field `vendor` of an upload, which is no body of its own."""
    return {"anyOf": [schema.to_schema() for schema in _list_alternatives(VendorRule(VENDORS))]}
