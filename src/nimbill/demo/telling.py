"""Tells the story to the service over its own HTTP API, as any client would."""

from collections.abc import Callable, Mapping
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from nimbill import exact_json
from nimbill.demo.accounts import Account
from nimbill.demo.story import Customer, Reseller


class DemoError(Exception):
    """The demo cannot go on; the message says why and what to do."""


class Caller:
    """A client of one organisation, with its token."""

    def __init__(self, address: str, account: Account) -> None:
        self._address = urlsplit(address)
        form = {
            "grant_type": "client_credentials",
            "client_id": account.client_id,
            "client_secret": account.client_secret,
        }
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        status, answer = self._send("/core/access_token", urlencode(form).encode(), kind)
        if status == 401:
            raise DemoError(
                "the login kept beside the demo's data is not one of its database; remove the "
                "demo's data folder to start afresh"
            )
        if status != 200:
            raise DemoError(f"/core/access_token answered {status}; see the demo's log")
        self._token = {"Authorization": f"Bearer {answer['access_token']}"}

    def post(self, path: str, body: Mapping[str, Any], *, key: str) -> None:
        """Sent again after an interrupted start, the same key changes nothing twice."""
        headers = self._token | {"Content-Type": "application/json", "Idempotency-Key": key}
        status, answer = self._send(path, exact_json.write(body), headers)
        if status not in (200, 409):  # 409: somebody was there before the story
            raise DemoError(f"{path} answered {status}, {answer.get('code')}; see the demo's log")

    def _send(self, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, Any]:
        connection = HTTPConnection(self._address.hostname or "", self._address.port, timeout=30)
        try:
            connection.request("POST", path, body, dict(headers))
            response = connection.getresponse()
            return response.status, exact_json.read(response.read())
        finally:
            connection.close()


def add_billing_groups(caller: Caller, reseller: Reseller) -> None:
    for customer in reseller.customers:
        body = _billing_group(customer)
        caller.post("/m/core/billinggroup", body, key=f"demo-{customer.billinggroup_id}")


def _billing_group(customer: Customer) -> dict[str, Any]:
    return {
        "billinggroup_id": customer.billinggroup_id,
        "billinggroup_name": customer.name,
        "company_name": customer.company_name,
        "phone": customer.phone,
        "postal": customer.postal,
        "address": customer.address,
        "billing_title": "Cloud services" if customer.language == "en" else "クラウド利用料",
        "personal": customer.personal,
        "remarks": customer.remarks,
        "inv_aggregate": customer.inv_aggregate,
        "invoices": {vendor: dict(setting) for vendor, setting in customer.invoices.items()},
        "language": customer.language,
    }


# In order; each is told once to each reseller, also where an older demo left its data.
CHAPTERS: Mapping[str, Callable[[Caller, Reseller], None]] = {
    "billing groups": add_billing_groups,
}


def tell(address: str, reseller: Reseller, account: Account) -> bool:
    """Every chapter not told yet; whether there was one."""
    untold = [name for name in CHAPTERS if name not in account.told]
    caller = Caller(address, account)
    for name in untold:
        CHAPTERS[name](caller, reseller)
        account.told.append(name)
    return bool(untold)
