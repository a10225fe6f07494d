"""What stands for ${computed}: an image and a volume type for a region and an instance type."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from nimbill.foundation.basis import chosen

basis = chosen("computed-values")

COMPUTED = "${computed}"

# Amazon Linux 2023, its full image: the names Amazon gives it, whatever the kernel
IMAGE_OWNER = "amazon"
IMAGE_NAMES = "al2023-ami-2023.*"
_FULL_IMAGE = re.compile(r"al2023-ami-2023\.[0-9.]+-kernel-[0-9.]+-(x86_64|arm64)")

# a1, and whatever has a g after the number of its generation: t4g, m6gd, c7gn, g5g
_ARM = re.compile(r"(a1|[a-z]+[0-9]+[a-z]*g[a-z]*)\..+")

VOLUME_TYPE = "gp3"
# as of 2026-11: regions of their own, where the older type is the one that is certainly there
OLDER_VOLUME_TYPE = "gp2"
REGIONS_OF_THE_OLDER = ("us-iso", "eu-isoe")


def architecture_of(instance_type: str) -> str:
    return "arm64" if _ARM.fullmatch(instance_type) else "x86_64"


def volume_type_for(region: str) -> str:
    older = region.startswith(REGIONS_OF_THE_OLDER)
    return OLDER_VOLUME_TYPE if older else VOLUME_TYPE


def newest_image(offered: Iterable[Mapping[str, Any]]) -> str | None:
    """The id of the newest full image among those offered."""
    fitting = [one for one in offered if _FULL_IMAGE.fullmatch(str(one.get("Name")))]
    newest = max(fitting, key=_age, default=None)
    return None if newest is None else str(newest["ImageId"])


def _age(image: Mapping[str, Any]) -> tuple[str, list[int]]:
    """By its date and, within a day or without one, by the numbers in its name."""
    numbers = [int(one) for one in re.findall(r"[0-9]+", str(image["Name"]))]
    return str(image.get("CreationDate") or "")[:10], numbers
