"""Version 3 of the API in the demo: a seed step that launches a stack, and sample commands."""

import time
from typing import Any

from nimbill.demo.api_client import DemoClient, DemoError
from nimbill.demo.logins import DemoLogin
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill.demo.shell_commands import EXTRACT_ACCESS, SampleCommand, client_options

DEPLOYMENT = "minasoko-shop"
LAUNCH_SECONDS_MAX = 60
STACK_FIELDS = """'^deprecation: .*\\|^sunset: .*\\|"stack_status":"[^"]*"\\|"nickname":"[^"]*"'"""
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


def launch_stack(client: DemoClient, reseller: DemoReseller) -> None:
    """The instances and their agents are simulated on this machine."""
    if reseller is not AOZORA:
        return
    legacy = client.log_in_to("/v3/access_token", "password")
    legacy.post("/v3/alm/template", TEMPLATE, key="demo-stack")
    deadline = time.monotonic() + LAUNCH_SECONDS_MAX
    while any(stack["stack_status"] != "CREATE_COMPLETE" for stack in legacy.get("/v3/alm/stack")):
        if time.monotonic() > deadline:
            raise DemoError(
                f"A stack is not complete after {LAUNCH_SECONDS_MAX} seconds. "
                "See demo.log in the demo's data folder."
            )
        time.sleep(0.3)


def stack_commands(login: DemoLogin) -> list[SampleCommand]:
    return [
        SampleCommand(
            "Show a deployment with its layers. Its instances are simulated.",
            f'curl -s $API/m/core/v0/deployments/{DEPLOYMENT} -H "$AUTH"; echo',
        ),
        SampleCommand(
            "List the stacks through version 3 (deprecated), with its deprecation headers.",
            "LEGACY=$(curl -s $API/v3/access_token -d grant_type=password \\\n"
            f"  {client_options(login, '-d')} | {EXTRACT_ACCESS})\n"
            'curl -si $API/v3/alm/stack -H "Authorization: Bearer $LEGACY" | \\\n'
            f"  grep -io {STACK_FIELDS}",
        ),
    ]
