"""A valid template with two layers, and requests with it."""

from __future__ import annotations

import copy
from typing import Any

import httpx

from nimbill.legacy.token_product import LEGACY
from tests.running_service import Service

PATH = "/v3/alm/template"
CRED = "AKIAEXAMPLE:cred-canary-6f1d"
GIT_KEY = "-----BEGIN KEY-----\ngit-canary-93ab\n-----END KEY-----"

TEMPLATE: dict[str, Any] = {
    "version": "2026-11-15",
    "label": "shop",
    "description": "a shop with two layers",
    "vendor": {"aws": {"cred": CRED, "region": "eu-west-1"}},
    "configurations": [
        {
            "role": "web server",
            "flag": "web",
            "provision": {
                "image": "${computed}",
                "volume_type": "${computed}",
                "instance_type": "t3.small",
                "instance_count": 2,
                "keypair": False,
            },
            "container": {
                "image": "registry.example/shop:1",
                "environment_variables": {"PORT": "8080"},
                "gitReference": "main",
                "gitPrivateKey": GIT_KEY,
                "gitRepo": "git@git.example:shop.git",
            },
        },
        {
            "role": "database",
            "flag": "db",
            "provision": {
                "image": "ami-0123456789abcdef0",
                "volume_type": "gp3",
                "instance_type": "m5.large",
                "instance_count": 1,
                "keypair": True,
            },
        },
    ],
}


def build_template(**changes: Any) -> dict[str, Any]:
    """The valid template with changed fields; None removes a field."""
    template = copy.deepcopy(TEMPLATE) | changes
    return {name: value for name, value in template.items() if value is not None}


def master_headers(service: Service) -> dict[str, str]:
    return service.root(product=LEGACY)


def post_template(service: Service, body: Any = None, **options: Any) -> httpx.Response:
    body = TEMPLATE if body is None else body
    return service.http.post(PATH, json=body, headers=master_headers(service), **options)


def apply_template(service: Service, **changes: Any) -> dict[str, str]:
    """Apply a valid template; return status, stack_status, stack_id and version_id."""
    response = post_template(service, build_template(**changes))
    assert response.status_code == 201, response.text
    applied: dict[str, str] = response.json()
    return applied


def put_template(service: Service, stack_id: str, body: Any = None) -> httpx.Response:
    body = TEMPLATE if body is None else body
    return service.http.put(f"{PATH}/{stack_id}", json=body, headers=master_headers(service))


def read_template(service: Service, stack_id: str, **query: str) -> Any:
    response = service.http.get(f"{PATH}/{stack_id}", params=query, headers=master_headers(service))
    assert response.status_code == 200, response.text
    return response.json()


def violated_fields(response: httpx.Response) -> set[str]:
    assert response.status_code == 400, response.text
    return {each["field"] for each in response.json()["violations"]}
