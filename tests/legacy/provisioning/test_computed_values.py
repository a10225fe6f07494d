"""What stands for ${computed}: the newest image that fits, and a volume type for the region."""

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
def test_the_architecture_is_told_by_the_type(instance_type: str, architecture: str) -> None:
    assert find_architecture(instance_type) == architecture


@pytest.mark.parametrize(
    ("region", "volume_type"),
    [("eu-west-1", "gp3"), ("us-gov-west-1", "gp3"), ("us-iso-east-1", "gp2")],
)
def test_gp3_and_the_older_type_where_it_may_not_be_offered(region: str, volume_type: str) -> None:
    assert choose_volume_type(region) == volume_type


def image(name: str, date: str | None = None) -> dict[str, Any]:
    return {"ImageId": f"ami of {name}", "Name": name, "CreationDate": date}


def test_the_newest_by_date_and_by_the_numbers_of_its_name() -> None:
    old = image("al2023-ami-2023.9.20260101.0-kernel-6.12-x86_64", "2026-01-02T10:00:00.000Z")
    new = image("al2023-ami-2023.10.20260201.0-kernel-6.1-x86_64", "2026-02-02T10:00:00.000Z")
    same_day = image("al2023-ami-2023.10.20260201.0-kernel-6.12-x86_64", "2026-02-02T09:00:00.000Z")

    assert choose_newest_image([new, old]) == new["ImageId"]
    assert choose_newest_image([new, same_day, old]) == same_day["ImageId"], (
        "6.12 is newer than 6.1"
    )


def test_only_full_images_are_taken() -> None:
    others = [
        image("al2023-ami-minimal-2023.9.20260101.0-kernel-6.1-x86_64"),
        image("al2023-ami-ecs-hvm-2023.0.20260101-kernel-6.1-x86_64"),
        image("al2023-ami-2023.9.20260101.0-kernel-6.1-x86_64-by-somebody"),
        image("amzn2-ami-hvm-2.0.20260930.0-x86_64-gp2"),
    ]

    assert choose_newest_image(others) is None
    assert choose_newest_image([]) is None
