"""What a template must be: its fields, its layers, their provision and their container."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("Legacy template body")
limits_basis = chosen("template-rules")
container_basis = chosen("template-containers")

MASK = "***"
COMPUTED = "${computed}"  # filled by the provisioner

LABEL_MAX = 100
FLAG_MAX = 64
TEXT_MAX = 4_096
LAYERS_MAX = 20
COUNT_MAX = 100
INSTANCES_MAX = 200
VARIABLES_MAX = 200

REGION = re.compile(r"[a-z]{2,4}(-[a-z]+){1,3}-[0-9]{1,2}")

# a container's fields as the agent configuration names them, and as they may be written too
SPELLINGS: Mapping[str, str] = {
    "image": "container_image",
    "environment_variables": "container_env_vars",
    "gitReference": "container_git_reference",
    "gitPrivateKey": "container_git_private_key",
    "gitRepo": "container_git_repo",
}


class Rule(NamedTuple):
    """Whether a value keeps it, and the rule in words."""

    kept_by: Callable[[Any], bool]
    words: str


def _text(most: int) -> Rule:
    return Rule(
        lambda value: isinstance(value, str) and 0 < len(value) <= most, f"length 1 to {most}"
    )


def _is_date(value: Any) -> bool:
    try:
        return bool(datetime.fromisoformat(value))
    except (TypeError, ValueError):
        return False


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= FLAG_MAX and value.isprintable()


def _matching(pattern: re.Pattern[str], words: str) -> Rule:
    return Rule(lambda value: isinstance(value, str) and bool(pattern.fullmatch(value)), words)


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX


TEMPLATE: Mapping[str, Rule] = {
    "version": Rule(_is_date, "a date such as 2026-11-15"),
    "label": _text(LABEL_MAX),
}
AWS: Mapping[str, Rule] = {
    "cred": _text(TEXT_MAX),
    "region": _matching(REGION, "a region such as eu-west-1"),
}
LAYER: Mapping[str, Rule] = {
    "role": _text(LABEL_MAX),
    "flag": Rule(_is_word, f"1 to {FLAG_MAX} printable characters"),
}
PROVISION: Mapping[str, Rule] = {
    "image": _text(LABEL_MAX),
    "volume_type": _text(LABEL_MAX),
    "instance_type": _text(LABEL_MAX),
    "instance_count": Rule(is_count, f"a whole number from 0 to {COUNT_MAX}"),
    "keypair": Rule(lambda value: isinstance(value, bool), "true or false"),
}


# what is launched where a provision does not say
UNLESS_SAID: Mapping[str, Any] = {
    "image": COMPUTED,
    "volume_type": COMPUTED,
    "instance_type": "t3.micro",
    "instance_count": 1,
    "keypair": False,
}


def template_violations(template: Mapping[str, Any], *, creating: bool) -> list[Violation]:
    """Every broken rule with its place; on update the vendor is not looked at."""
    found = list(_broken(TEMPLATE, template, ""))
    description = template.get("description")
    if description is not None and not isinstance(description, str):
        found.append(Violation("description", "a text"))
    if creating:
        found += _in_vendor(template.get("vendor"))
    return found + list(_in_configurations(template.get("configurations")))


def settled_provision(layer: Mapping[str, Any]) -> dict[str, Any]:
    """What a layer wants launched, told in full; nothing where it has no provision."""
    provision = layer.get("provision")
    if not isinstance(provision, dict):
        return {**UNLESS_SAID, "instance_count": 0}
    return {**UNLESS_SAID, **{name: v for name, v in provision.items() if v is not None}}


def settled_container(layer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The container of a layer under the names of the agent configuration; None without one."""
    if not isinstance(layer.get("container"), dict) and not any(_of_container(layer).values()):
        return None
    return {name: given[0][1] for name, given in _of_container(layer).items() if given}


def _of_container(layer: Mapping[str, Any]) -> dict[str, list[tuple[str, Any]]]:
    """Where each field of a container is given: in either spelling, or beside it in the layer."""
    container = layer.get("container")
    inside: Mapping[str, Any] = container if isinstance(container, dict) else {}
    return {
        name: [
            (place, where[written])
            for place, where, written in (
                (f"container.{name}", inside, name),
                (f"container.{other}", inside, other),
                (other, layer, other),
            )
            if where.get(written) is not None
        ]
        for name, other in SPELLINGS.items()
    }


def _broken(
    rules: Mapping[str, Rule], given: Mapping[str, Any], at: str, *, required: bool = True
) -> Iterator[Violation]:
    for name, rule in rules.items():
        if given.get(name) is None:
            if required:
                yield Violation(f"{at}{name}", "required")
        elif not rule.kept_by(given[name]):
            yield Violation(f"{at}{name}", rule.words)


def _in_vendor(vendor: Any) -> Iterator[Violation]:
    """Other vendors may stand beside aws; nothing is launched there."""
    aws = vendor.get("aws") if isinstance(vendor, dict) else None
    if not isinstance(aws, dict):
        yield Violation("vendor", "an object that holds an object aws")
        return
    yield from _broken(AWS, aws, "vendor.aws.")


def _in_configurations(layers: Any) -> Iterator[Violation]:
    if not isinstance(layers, list) or not 0 < len(layers) <= LAYERS_MAX:
        yield Violation("configurations", f"a list of 1 to {LAYERS_MAX} layers")
        return
    flags: set[str] = set()
    for index, layer in enumerate(layers):
        at = f"configurations[{index}]"
        if not isinstance(layer, dict):
            yield Violation(at, "an object")
            continue
        yield from _in_layer(layer, f"{at}.")
        flag = layer.get("flag")
        if isinstance(flag, str):
            if flag in flags:
                yield Violation(f"{at}.flag", "unlike the flag of every other layer")
            flags.add(flag)
    if instances_wanted(layers) > INSTANCES_MAX:
        yield Violation("configurations", f"at most {INSTANCES_MAX} instances in all")


def instances_wanted(layers: list[Any]) -> int:
    """As far as the counts are sound."""
    provisions = [settled_provision(layer) for layer in layers if isinstance(layer, dict)]
    counts = [provision["instance_count"] for provision in provisions]
    return sum(int(count) for count in counts if is_count(count))


def _in_layer(layer: Mapping[str, Any], at: str) -> Iterator[Violation]:
    yield from _broken(LAYER, layer, at)
    for name in ("provision", "container"):
        if layer.get(name) is not None and not isinstance(layer[name], dict):
            yield Violation(f"{at}{name}", "an object")
    if isinstance(layer.get("provision"), dict):
        yield from _broken(PROVISION, layer["provision"], f"{at}provision.", required=False)
    yield from _in_container(layer, at)


def _in_container(layer: Mapping[str, Any], at: str) -> Iterator[Violation]:
    for name, given in _of_container(layer).items():
        for place, _ in given[1:]:
            yield Violation(f"{at}{place}", f"absent where {given[0][0]} is given")
        for place, value in given:
            if name == "environment_variables":
                yield from _in_variables(value, f"{at}{place}")
            elif not isinstance(value, str):
                yield Violation(f"{at}{place}", "a text")


def _in_variables(variables: Any, at: str) -> Iterator[Violation]:
    """Their names are the caller's and are not repeated."""
    if not isinstance(variables, dict) or len(variables) > VARIABLES_MAX:
        yield Violation(at, f"an object of at most {VARIABLES_MAX} variables")
    elif not all(isinstance(value, str) for value in variables.values()):
        yield Violation(at, "texts by name")
