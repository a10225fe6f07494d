"""Version 3 of the API in the demo: a seed step that launches a stack, and sample commands."""

import time
from typing import Any

import httpx

from nimbill.demo.api_client import DemoClient, DemoError
from nimbill.demo.logins import DemoLogin
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill.demo.shell_commands import EXTRACT_ACCESS, SampleCommand, client_options

DEPLOYMENT = "minasoko-shop"
LAUNCH_SECONDS_MAX = 60
STACK_KEY = {"Idempotency-Key": "demo-stack"}
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
    with LegacyClient(client) as legacy:
        legacy.send("POST", "/v3/alm/template", json=TEMPLATE, headers=STACK_KEY)
        deadline = time.monotonic() + LAUNCH_SECONDS_MAX
        while any(stack["stack_status"] != "CREATE_COMPLETE" for stack in legacy.list_stacks()):
            if time.monotonic() > deadline:
                raise DemoError(
                    f"A stack is not complete after {LAUNCH_SECONDS_MAX} seconds. "
                    "See demo.log in the demo's data folder."
                )
            time.sleep(0.3)


class LegacyClient:
    """A client of version 3, which `nimbill-client` does not support."""

    def __init__(self, client: DemoClient) -> None:
        # A proxy that the environment names does not reach the service of this machine.
        self._http = httpx.Client(base_url=client.address, timeout=300, trust_env=False)
        form = {
            "grant_type": "password",
            "client_id": client.login.client_id,
            "client_secret": client.login.client_secret,
        }
        token = self.send("POST", "/v3/access_token", data=form)["access_token"]
        self._http.headers["Authorization"] = f"Bearer {token}"

    def __enter__(self) -> "LegacyClient":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def list_stacks(self) -> Any:
        return self.send("GET", "/v3/alm/stack")

    def send(self, method: str, path: str, **content: Any) -> Any:
        """Retries while the service limits the rate or is overloaded."""
        deadline = time.monotonic() + LAUNCH_SECONDS_MAX
        while True:
            response = self._http.request(method, path, **content)
            if response.status_code not in (408, 429, 503) or time.monotonic() > deadline:
                break
            time.sleep(1)
        if response.status_code not in (200, 201, 202, 409):  # 409: it exists already
            raise DemoError(f"{path} returned {response.status_code}. See demo.log.")
        return response.json()


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
