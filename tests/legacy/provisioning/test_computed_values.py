"""Values for ${computed}: the newest image of an architecture, and a volume type of a region."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.legacy.provisioning.computed_values import (
    choose_newest_image,
    choose_volume_type,
    find_architecture,
)


@pytest.mark.parametrize(
    ("instance_type", "architecture"),
    [
        ("t3.small", "x86_64"),
        ("m5dn.large", "x86_64"),
        ("g4dn.xlarge", "x86_64"),
        ("u-6tb1.metal", "x86_64"),
        ("a1.large", "arm64"),
        ("t4g.micro", "arm64"),
        ("m6gd.large", "arm64"),
        ("c7gn.16xlarge", "arm64"),
        ("is4gen.large", "arm64"),
        ("g5g.xlarge", "arm64"),
    ],
)
def test_the_instance_type_determines_the_architecture(
    instance_type: str, architecture: str
) -> None:
    assert find_architecture(instance_type) == architecture


@pytest.mark.parametrize(
    ("region", "volume_type"),
    [("eu-west-1", "gp3"), ("us-gov-west-1", "gp3"), ("us-iso-east-1", "gp2")],
)
def test_isolated_regions_use_the_older_volume_type(region: str, volume_type: str) -> None:
    assert choose_volume_type(region) == volume_type


def build_image(name: str, date: str | None = None) -> dict[str, Any]:
    return {"ImageId": f"ami of {name}", "Name": name, "CreationDate": date}


def test_the_newest_image_is_chosen_by_date_then_by_version() -> None:
    old = build_image("al2023-ami-2023.9.20260101.0-kernel-6.12-x86_64", "2026-01-02T10:00:00.000Z")
    new = build_image("al2023-ami-2023.10.20260201.0-kernel-6.1-x86_64", "2026-02-02T10:00:00.000Z")
    same_day = build_image(
        "al2023-ami-2023.10.20260201.0-kernel-6.12-x86_64", "2026-02-02T09:00:00.000Z"
    )

    assert choose_newest_image([new, old]) == new["ImageId"]
    assert choose_newest_image([new, same_day, old]) == same_day["ImageId"], (
        "6.12 is newer than 6.1"
    )


def test_only_standard_images_are_chosen() -> None:
    others = [
        build_image("al2023-ami-minimal-2023.9.20260101.0-kernel-6.1-x86_64"),
        build_image("al2023-ami-ecs-hvm-2023.0.20260101-kernel-6.1-x86_64"),
        build_image("al2023-ami-2023.9.20260101.0-kernel-6.1-x86_64-by-somebody"),
        build_image("amzn2-ami-hvm-2.0.20260930.0-x86_64-gp2"),
    ]

    assert choose_newest_image(others) is None
    assert choose_newest_image([]) is None
