"""Rewrites the OpenAPI document where code generators fail or generate code that does not work.

The document stays true; each function names the generator that needs it. `make clients-check`
runs the generators.
"""

import re
from typing import Any

NULL = {"type": "null"}
# the content type that is documented if several have the same schema
PREFERRED_TYPES = ("application/json", "application/x-www-form-urlencoded")
_PARAMETER = re.compile(r"{([^}]*)}")


def rewrite_for_generators(document: dict[str, Any]) -> None:
    _merge_equivalent_paths(document)
    _document_one_type_for_each_body(document)
    _omit_null_from_parameters(document)
    _rewrite_schemas(document)


def _omit_null_from_parameters(document: dict[str, Any]) -> None:
    """A parameter is absent or a text, but never null; openapi-generator makes a class of both."""
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                schema = parameter["schema"]
                if NULL in schema.get("oneOf", []):
                    (type_,) = [each for each in schema.pop("oneOf") if each != NULL]
                    parameter["schema"] = {**type_, **schema}


def _rewrite_schemas(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _rewrite_schemas(item)
    elif isinstance(node, dict):
        for value in node.get("properties", {}).values():
            _allow_text(value)
        if "prefixItems" in node:
            _replace_tuple(node)
        for value in node.values():
            _rewrite_schemas(value)


def _allow_text(schema: Any) -> None:
    """openapi-generator has no type for a field that is always null."""
    if schema == NULL:
        schema.clear()
        schema |= {"oneOf": [{"type": "string"}, dict(NULL)], "description": "Always null."}


def _replace_tuple(schema: dict[str, Any]) -> None:
    """No generator reads `prefixItems`; Spectral requires `items`."""
    members = schema.pop("prefixItems")
    alternatives: list[Any] = []
    for member in members:
        alternatives += [each for each in member.get("oneOf", [member]) if each not in alternatives]
    schema["items"] = alternatives[0] if len(alternatives) == 1 else {"oneOf": alternatives}
    schema["minItems"] = schema["maxItems"] = len(members)


def _document_one_type_for_each_body(document: dict[str, Any]) -> None:
    """openapi-python-client chooses the content type by the class of the body.

    With one class for several content types it always sends the last one, and the modules of token
    endpoints cannot even be imported. The other content types are named in the description.
    """
    for methods in document["paths"].values():
        for operation in methods.values():
            body = operation.get("requestBody", {})
            content = body.get("content", {})
            for content_type in sorted(content, key=_rank_content_type):
                same = [other for other in content if content[other] == content.get(content_type)]
                others = [other for other in same if other != content_type]
                for other in others:
                    del content[other]
                if others:
                    text = f"The fields of {content_type} can also be sent as {', '.join(others)}."
                    body["description"] = f"{body.get('description', '')} {text}".strip()


def _rank_content_type(content_type: str) -> int:
    is_preferred = content_type in PREFERRED_TYPES
    return PREFERRED_TYPES.index(content_type) if is_preferred else len(PREFERRED_TYPES)


def _merge_equivalent_paths(document: dict[str, Any]) -> None:
    """OpenAPI forbids paths that differ only in the name of a parameter.

    Their methods differ, so that one path with one name for both parameters describes them.
    """
    by_shape: dict[str, list[str]] = {}
    for path in document["paths"]:
        by_shape.setdefault(_PARAMETER.sub("{}", path), []).append(path)
    merged: dict[str, Any] = {}
    for paths in by_shape.values():
        names = [_PARAMETER.findall(path) for path in paths]
        joined = ["_or_".join(dict.fromkeys(group)) for group in zip(*names, strict=True)]
        replacements = iter(joined)
        shared = _PARAMETER.sub(lambda _: f"{{{next(replacements)}}}", paths[0])  # noqa: B023
        merged[shared] = {}
        for path, own_names in zip(paths, names, strict=True):
            for method, operation in document["paths"][path].items():
                _rename_parameters(operation, dict(zip(own_names, joined, strict=True)))
                merged[shared][method] = operation
    document["paths"] = merged


def _rename_parameters(operation: dict[str, Any], names: dict[str, str]) -> None:
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path" and names[parameter["name"]] != parameter["name"]:
            old = parameter["name"]
            parameter["description"] = f"Here the {old.replace('_', ' ')}."
            parameter["name"] = names[old]
