"""The stacks of the story: what a reseller still runs for a customer through version 3."""

import time
from typing import Any

from nimbill.demo.calling import DemoClient, DemoError
from nimbill.demo.story import AOZORA, Reseller

DEPLOYMENT = "minasoko-shop"
SECONDS_MAX = 60
TEMPLATE: dict[str, Any] = {
    "version": "2026-10-01",
    "label": DEPLOYMENT,
    "description": "ネットショップの本番環境",
    "nickname": "calm-harbour",
    "vendor": {"aws": {"cred": "DEMO-KEY-ID:demo-secret", "region": "ap-northeast-1"}},
    "configurations": [
        {
            "role": "web",
            "flag": "web",
            "provision": {
                "image": "${computed}",
                "volume_type": "${computed}",
                "instance_type": "t3.small",
                "instance_count": 2,
                "keypair": True,
            },
            "container": {
                "image": "shop-web:4.2",
                "environment_variables": {"SHOP_LANGUAGE": "ja"},
                "gitRepo": "git@git.example.com:shop/web.git",
                "gitReference": "main",
                "gitPrivateKey": "demo-private-key",
            },
        },
        {
            "role": "batch",
            "flag": "nightly",
            "provision": {
                "image": "${computed}",
                "volume_type": "${computed}",
                "instance_type": "t3.micro",
                "instance_count": 1,
                "keypair": False,
            },
        },
    ],
}


def launch_stack(caller: DemoClient, reseller: Reseller) -> None:
    """On this machine: instances and their agents are simulated, all else is as in earnest."""
    if reseller is not AOZORA:
        return
    legacy = caller.over_version_3()
    legacy.post("/v3/alm/template", TEMPLATE, key="demo-stack")
    until = time.monotonic() + SECONDS_MAX
    while any(one["stack_status"] != "CREATE_COMPLETE" for one in legacy.get("/v3/alm/stack")):
        if time.monotonic() > until:
            raise DemoError("a stack is not complete after a minute; see the demo's log")
        time.sleep(0.3)
