"""The rules of a template: its fields, its layers, their provision and their container."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("Legacy template body")
limits_basis = chosen("template-rules")
container_basis = chosen("template-containers")
more_container_basis = chosen("published-agent-configuration")

MASK = "***"
COMPUTED = "${computed}"  # replaced by the provisioner

LABEL_MAX = 100
FLAG_MAX = 64
TEXT_MAX = 4_096
LAYERS_MAX = 20
COUNT_MAX = 100
INSTANCES_MAX = 200
VARIABLES_MAX = 200
ITEMS_MAX = 100
PORT_MAX = 65_535

REGION = re.compile(r"[a-z]{2,4}(-[a-z]+){1,3}-[0-9]{1,2}")

# fields of a container as in the agent configuration, and their alternative names
CONTAINER_FIELD_ALIASES: Mapping[str, str] = {
    "image": "container_image",
    "environment_variables": "container_env_vars",
    "gitReference": "container_git_reference",
    "gitPrivateKey": "container_git_private_key",
    "gitRepo": "container_git_repo",
}


class ContainerField(NamedTuple):
    """A further field of a container, for published agents; `default` is sent if it is absent."""

    is_valid: Callable[[Any], bool]
    text: str
    default: Any


class ValueRule(NamedTuple):
    is_valid: Callable[[Any], bool]
    text: str


def _text(length_max: int) -> ValueRule:
    return ValueRule(
        lambda value: isinstance(value, str) and 0 < len(value) <= length_max,
        f"length 1 to {length_max}",
    )


def _is_date(value: Any) -> bool:
    try:
        return bool(datetime.fromisoformat(value))
    except (TypeError, ValueError):
        return False


def _is_flag(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= FLAG_MAX and value.isprintable()


def _matching(pattern: re.Pattern[str], text: str) -> ValueRule:
    return ValueRule(lambda value: isinstance(value, str) and bool(pattern.fullmatch(value)), text)


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(is_item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and len(value) <= ITEMS_MAX and all(map(is_item, value))
    )


def _object_of(*names: str) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, dict)
        and set(value) == set(names)
        and all(isinstance(item, str) for item in value.values())
    )


def _is_port(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= PORT_MAX


MORE_CONTAINER_FIELDS: Mapping[str, ContainerField] = {
    "container_registry_username": ContainerField(_is_text, "a string", ""),
    "container_registry_password": ContainerField(_is_text, "a string", ""),
    "container_code_dir": ContainerField(_is_text, "a string", ""),
    "container_ports": ContainerField(
        _list_of(_is_port), f"a list of at most {ITEMS_MAX} numbers from 1 to {PORT_MAX}", []
    ),
    "container_users": ContainerField(
        _list_of(_object_of("name", "publicKey")),
        f"a list of at most {ITEMS_MAX} objects with the strings name and publicKey",
        [],
    ),
    "container_addons": ContainerField(
        _list_of(_is_text), f"a list of at most {ITEMS_MAX} strings", []
    ),
    "container_storage": ContainerField(
        _object_of("type", "id", "mountpath"),
        "an object with the strings type, id and mountpath",
        None,
    ),
}

TEMPLATE: Mapping[str, ValueRule] = {
    "version": ValueRule(_is_date, "a date such as 2026-11-15"),
    "label": _text(LABEL_MAX),
}
AWS: Mapping[str, ValueRule] = {
    "cred": _text(TEXT_MAX),
    "region": _matching(REGION, "a region such as eu-west-1"),
}
LAYER: Mapping[str, ValueRule] = {
    "role": _text(LABEL_MAX),
    "flag": ValueRule(_is_flag, f"1 to {FLAG_MAX} printable characters"),
}
PROVISION: Mapping[str, ValueRule] = {
    "image": _text(LABEL_MAX),
    "volume_type": _text(LABEL_MAX),
    "instance_type": _text(LABEL_MAX),
    "instance_count": ValueRule(is_count, f"a whole number from 0 to {COUNT_MAX}"),
    "keypair": ValueRule(lambda value: isinstance(value, bool), "true or false"),
}


PROVISION_DEFAULTS: Mapping[str, Any] = {
    "image": COMPUTED,
    "volume_type": COMPUTED,
    "instance_type": "t3.micro",
    "instance_count": 1,
    "keypair": False,
}


def find_template_violations(template: Mapping[str, Any], *, creating: bool) -> list[Violation]:
    """All violations. The vendor section is checked only on creation; updates ignore it."""
    found = list(_check_fields(TEMPLATE, template, ""))
    description = template.get("description")
    if description is not None and not isinstance(description, str):
        found.append(Violation("description", "a string"))
    if creating:
        found += _check_vendor(template.get("vendor"))
    return found + list(_check_configurations(template.get("configurations")))


def complete_provision(layer: Mapping[str, Any]) -> dict[str, Any]:
    """The provision of a layer with defaults filled in; no instances if it has none."""
    provision = layer.get("provision")
    if not isinstance(provision, dict):
        return {**PROVISION_DEFAULTS, "instance_count": 0}
    return {
        **PROVISION_DEFAULTS,
        **{name: value for name, value in provision.items() if value is not None},
    }


def merge_container_fields(layer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The container of a layer, with the field names of the agent configuration; None if absent."""
    fields = _find_container_fields(layer)
    if not isinstance(layer.get("container"), dict) and not any(fields.values()):
        return None
    more = _find_more_container_fields(layer)
    return {name: given[0][1] for name, given in (fields | more).items() if given}


def _find_container_fields(layer: Mapping[str, Any]) -> dict[str, list[tuple[str, Any]]]:
    """The paths and values of each field.

    A field may be given in `container` under either name, or in the layer under its alternative.
    """
    container = layer.get("container")
    inner: Mapping[str, Any] = container if isinstance(container, dict) else {}
    return {
        name: [
            (path, source[key])
            for path, source, key in (
                (f"container.{name}", inner, name),
                (f"container.{alias}", inner, alias),
                (alias, layer, alias),
            )
            if source.get(key) is not None
        ]
        for name, alias in CONTAINER_FIELD_ALIASES.items()
    }


def _find_more_container_fields(layer: Mapping[str, Any]) -> dict[str, list[tuple[str, Any]]]:
    """The paths and values of each field, which may be given in `container` or in the layer."""
    container = layer.get("container")
    inner: Mapping[str, Any] = container if isinstance(container, dict) else {}
    return {
        name: [
            (path, source[name])
            for path, source in ((f"container.{name}", inner), (name, layer))
            if source.get(name) is not None
        ]
        for name in MORE_CONTAINER_FIELDS
    }


def _check_fields(
    rules: Mapping[str, ValueRule], values: Mapping[str, Any], at: str, *, required: bool = True
) -> Iterator[Violation]:
    for name, rule in rules.items():
        if values.get(name) is None:
            if required:
                yield Violation(f"{at}{name}", "required")
        elif not rule.is_valid(values[name]):
            yield Violation(f"{at}{name}", rule.text)


def _check_vendor(vendor: Any) -> Iterator[Violation]:
    """Sections of other vendors are allowed and ignored."""
    aws = vendor.get("aws") if isinstance(vendor, dict) else None
    if not isinstance(aws, dict):
        yield Violation("vendor", "an object that contains an object aws")
        return
    yield from _check_fields(AWS, aws, "vendor.aws.")


def _check_configurations(layers: Any) -> Iterator[Violation]:
    if not isinstance(layers, list) or not 0 < len(layers) <= LAYERS_MAX:
        yield Violation("configurations", f"a list of 1 to {LAYERS_MAX} layers")
        return
    flags: set[str] = set()
    for index, layer in enumerate(layers):
        at = f"configurations[{index}]"
        if not isinstance(layer, dict):
            yield Violation(at, "an object")
            continue
        yield from _check_layer(layer, f"{at}.")
        flag = layer.get("flag")
        if isinstance(flag, str):
            if flag in flags:
                yield Violation(f"{at}.flag", "different from the flags of all other layers")
            flags.add(flag)
    if count_instances(layers) > INSTANCES_MAX:
        yield Violation("configurations", f"at most {INSTANCES_MAX} instances in total")


def count_instances(layers: list[Any]) -> int:
    """The number of instances; invalid counts are ignored."""
    provisions = [complete_provision(layer) for layer in layers if isinstance(layer, dict)]
    counts = [provision["instance_count"] for provision in provisions]
    return sum(int(count) for count in counts if is_count(count))


def _check_layer(layer: Mapping[str, Any], at: str) -> Iterator[Violation]:
    yield from _check_fields(LAYER, layer, at)
    for name in ("provision", "container"):
        if layer.get(name) is not None and not isinstance(layer[name], dict):
            yield Violation(f"{at}{name}", "an object")
    if isinstance(layer.get("provision"), dict):
        yield from _check_fields(PROVISION, layer["provision"], f"{at}provision.", required=False)
    yield from _check_container(layer, at)
    yield from _check_more_container_fields(layer, at)


def _check_container(layer: Mapping[str, Any], at: str) -> Iterator[Violation]:
    for name, given in _find_container_fields(layer).items():
        for path, _ in given[1:]:
            yield Violation(f"{at}{path}", f"absent if {given[0][0]} is given")
        for path, value in given:
            if name == "environment_variables":
                yield from _check_variables(value, f"{at}{path}")
            elif not isinstance(value, str):
                yield Violation(f"{at}{path}", "a string")


def _check_more_container_fields(layer: Mapping[str, Any], at: str) -> Iterator[Violation]:
    for name, given in _find_more_container_fields(layer).items():
        for path, _ in given[1:]:
            yield Violation(f"{at}{path}", f"absent if {given[0][0]} is given")
        for path, value in given:
            if not MORE_CONTAINER_FIELDS[name].is_valid(value):
                yield Violation(f"{at}{path}", MORE_CONTAINER_FIELDS[name].text)


def _check_variables(variables: Any, at: str) -> Iterator[Violation]:
    """Violations do not repeat the names of variables, which the caller chose."""
    if not isinstance(variables, dict) or len(variables) > VARIABLES_MAX:
        yield Violation(at, f"an object of at most {VARIABLES_MAX} variables")
    elif not all(isinstance(value, str) for value in variables.values()):
        yield Violation(at, "strings by name")
