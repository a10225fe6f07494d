"""Values for ${computed}: an image and a volume type that suit a region and an instance type."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

# See docs/choices.md, computed-values.

COMPUTED = "${computed}"

# the standard image of Amazon Linux 2023, with any kernel
IMAGE_OWNER = "amazon"
IMAGE_NAMES = "al2023-ami-2023.*"
_STANDARD_IMAGE = re.compile(r"al2023-ami-2023\.[0-9.]+-kernel-[0-9.]+-(x86_64|arm64)")

# a1, and families with a g after the generation number: t4g, m6gd, c7gn, g5g
_ARM = re.compile(r"(a1|[a-z]+[0-9]+[a-z]*g[a-z]*)\..+")

VOLUME_TYPE = "gp3"
# as of 2026-11, gp3 is not certain to be available in the isolated regions
ISOLATED_VOLUME_TYPE = "gp2"
ISOLATED_REGIONS = ("us-iso", "eu-isoe")


def find_architecture(instance_type: str) -> str:
    return "arm64" if _ARM.fullmatch(instance_type) else "x86_64"


def choose_volume_type(region: str) -> str:
    return ISOLATED_VOLUME_TYPE if region.startswith(ISOLATED_REGIONS) else VOLUME_TYPE


def choose_newest_image(images: Iterable[Mapping[str, Any]]) -> str | None:
    """The id of the newest standard image; None if there is none."""
    standard = [image for image in images if _STANDARD_IMAGE.fullmatch(str(image.get("Name")))]
    newest = max(standard, key=_age, default=None)
    return None if newest is None else str(newest["ImageId"])


def _age(image: Mapping[str, Any]) -> tuple[str, list[int]]:
    """Sort by date; within a day, or without a date, by the version numbers in the name."""
    version = [int(number) for number in re.findall(r"[0-9]+", str(image["Name"]))]
    return str(image.get("CreationDate") or "")[:10], version
