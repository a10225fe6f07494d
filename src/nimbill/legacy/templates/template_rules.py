"""What a template must be: its fields, its layers, their provision and their container."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from nimbill.basis import chosen, stated
from nimbill.errors import Violation

basis = stated("Legacy template body (JSON document passed as a string)")
limits_basis = chosen("template-rules")
container_basis = chosen("template-containers")

MASK = "***"
COMPUTED = "${computed}"  # filled by the provisioner

LABEL_MAX = 100
TEXT_MAX = 4_096
LAYERS_MAX = 20
COUNT_MAX = 100
INSTANCES_MAX = 200
VARIABLES_MAX = 200

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
FLAG = re.compile(r"[A-Za-z0-9_-]{1,64}")
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
    if not isinstance(value, str) or not DATE.fullmatch(value):
        return False
    try:
        return bool(date.fromisoformat(value))
    except ValueError:
        return False


def _matching(pattern: re.Pattern[str], words: str) -> Rule:
    return Rule(lambda value: isinstance(value, str) and bool(pattern.fullmatch(value)), words)


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX


TEMPLATE: Mapping[str, Rule] = {
    "version": Rule(_is_date, "a date, yyyy-mm-dd"),
    "label": _text(LABEL_MAX),
}
AWS: Mapping[str, Rule] = {
    "cred": _text(TEXT_MAX),
    "region": _matching(REGION, "a region such as eu-west-1"),
}
LAYER: Mapping[str, Rule] = {
    "role": _text(LABEL_MAX),
    "flag": _matching(FLAG, "1 to 64 letters, digits, hyphens and underscores"),
}
PROVISION: Mapping[str, Rule] = {
    "image": _text(LABEL_MAX),
    "volume_type": _text(LABEL_MAX),
    "instance_type": _text(LABEL_MAX),
    "instance_count": Rule(is_count, f"a whole number from 0 to {COUNT_MAX}"),
    "keypair": Rule(lambda value: isinstance(value, bool), "true or false"),
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


def settled_container(layer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The container of a layer under the names of the agent configuration; None without one."""
    container = layer.get("container")
    if not isinstance(container, dict):
        return None
    both = {name: container.get(name, container.get(SPELLINGS[name])) for name in SPELLINGS}
    return {name: value for name, value in both.items() if value is not None}


def _broken(rules: Mapping[str, Rule], given: Mapping[str, Any], at: str) -> Iterator[Violation]:
    for name, rule in rules.items():
        if given.get(name) is None:
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
    provisions = [layer.get("provision") for layer in layers if isinstance(layer, dict)]
    counts = [one.get("instance_count") for one in provisions if isinstance(one, dict)]
    return sum(int(count or 0) for count in counts if is_count(count))


def _in_layer(layer: Mapping[str, Any], at: str) -> Iterator[Violation]:
    yield from _broken(LAYER, layer, at)
    provision = layer.get("provision")
    if isinstance(provision, dict):
        yield from _broken(PROVISION, provision, f"{at}provision.")
    else:
        yield Violation(f"{at}provision", "an object")
    container = layer.get("container")
    if isinstance(container, dict):
        yield from _in_container(container, f"{at}container.")
    elif container is not None:
        yield Violation(f"{at}container", "an object")


def _in_container(container: Mapping[str, Any], at: str) -> Iterator[Violation]:
    for name, other in SPELLINGS.items():
        given = [(n, container[n]) for n in (name, other) if container.get(n) is not None]
        if len(given) > 1:
            yield Violation(f"{at}{other}", f"absent where {name} is given")
        for written, value in given:
            if name == "environment_variables":
                yield from _in_variables(value, f"{at}{written}")
            elif not isinstance(value, str):
                yield Violation(f"{at}{written}", "a text")


def _in_variables(variables: Any, at: str) -> Iterator[Violation]:
    """Their names are the caller's and are not repeated."""
    if not isinstance(variables, dict) or len(variables) > VARIABLES_MAX:
        yield Violation(at, f"an object of at most {VARIABLES_MAX} variables")
    elif not all(isinstance(value, str) for value in variables.values()):
        yield Violation(at, "texts by name")
