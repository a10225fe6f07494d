"""Chains of requests that schemathesis makes by following the links of the OpenAPI document.

Each chain begins in a new organisation with costs of a month. The chains of the month end create a
billing group, give it an account, save settings and a rate, create an invoice, read and print it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis.core.transport import Response
from schemathesis.generation.stateful.control import TransitionController
from schemathesis.generation.stateful.state_machine import StepInput, StepOutput

from tests.contract.declared_routes import Route, all_routes
from tests.contract.month_factories import add_cost
from tests.contract.superuser import Superuser
from tests.contract.tenants import Tenant, new_tenant
from tests.path_shapes import shape_of
from tests.proof.asgi_calls import Answer, Request, as_headers
from tests.proof.generated_requests import BASE, as_request
from tests.proof.known_values import MONTH, VENDOR, narrow_document
from tests.running_service import Service

SETTINGS = settings(
    max_examples=4,
    stateful_step_count=40,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# Chains of the month end are followed until one reaches an invoice, at most this many times longer.
LONGER_MAX = 10
SUCCESSES_MAX = 2  # of one operation after a link in a chain
ACCOUNTS = ("050000000001", "050000000002", "050000000003")  # with costs
# what has to succeed first: in any order, few chains would reach an invoice
MONTH_END: Mapping[str, Collection[str]] = {
    "create_billing_group": (),
    "create_account": ("create_billing_group",),
    "list_months": ("create_account",),
    "save_invoice_settings": ("create_account",),
    "save_exchange_rates": ("save_invoice_settings",),
    "list_invoices": ("save_invoice_settings",),
    "create_invoices": ("save_exchange_rates",),
    "read_invoice": (),
    "print_invoice": (),
    "print_covering_page": ("create_invoices",),
    "list_invoice_revisions": (),
    "read_tie_out": ("create_invoices",),
}
ANY_ORDER: Mapping[str, Collection[str]] = {route.operation: () for route in all_routes()}

# None if the request could not be answered; the sender has reported it
Send = Callable[[Request, str], Awaitable[Answer | None]]


@dataclass
class LinkedRequests:
    """Where chains are sent, and what they reached."""

    service: Service
    superuser: Superuser
    send: Send
    canary: str
    chains: int = 0
    sent: int = 0
    succeeded: Counter[str] = field(default_factory=Counter)  # requests by operation

    def reached_invoices(self) -> bool:
        """Whether chains read and printed invoices that they had created themselves."""
        return all(self.succeeded[name] for name in ("read_invoice", "print_invoice"))

    def follow(self, document: Mapping[str, Any], *, requests_min: int, number: int) -> None:
        """Half of the requests are about the month end, the others about all operations."""
        for order in (MONTH_END, ANY_ORDER):
            machine = self._build_machine(document, order)
            begun, enough = self.sent, requests_min // 2
            while self.sent - begun < enough or self._is_unfinished(order, begun, enough):
                number += 1
                self._run(machine, number)

    def _is_unfinished(self, order: Mapping[str, Collection[str]], begun: int, enough: int) -> bool:
        """Whether the month end has not been reached yet, which depends on chance."""
        is_too_long = self.sent - begun >= LONGER_MAX * enough
        return order is MONTH_END and not is_too_long and not self.reached_invoices()

    def _build_machine(
        self, document: Mapping[str, Any], order: Mapping[str, Collection[str]]
    ) -> Any:
        schema = schemathesis.openapi.from_dict(narrow_document(document, ACCOUNTS))
        schema.config.phases.stateful.inference.algorithms = []  # the declared links alone
        routes = {
            (route.method, shape_of(route.path)): route
            for route in all_routes()
            if route.operation in order
        }

        def is_chosen(context: Any) -> bool:
            operation = context.operation
            return (operation.method.upper(), shape_of(operation.path)) in routes

        base = schema.include(is_chosen).as_state_machine()
        return _build_machine(base, self, routes, order)

    def _run(self, machine: Any, number: int) -> None:
        """Some chains. Hypothesis stops if the same choices lead to another response.

        That is no fault: ids and times are new in every chain.
        """
        seed(number)(machine)
        with suppress(FlakyStrategyDefinition):
            machine.run(settings=SETTINGS)

    def new_tenant(self) -> Tenant:
        """An organisation with costs of accounts that belong to no group yet."""
        self.chains += 1
        tenant = new_tenant(self.service, self.superuser, f"{self.canary}{self.chains}")
        for customer_id in ACCOUNTS:
            add_cost(tenant, customer_id, "team")
        return tenant


class OrderedControl(TransitionController):
    """Allows a request when those that must come first have succeeded, and not too often."""

    def __init__(
        self,
        other: TransitionController,
        routes: Mapping[tuple[str, str], Route],
        order: Mapping[str, Collection[str]],
        path: list[str],
    ) -> None:
        super().__init__(other.transitions, other.roots)
        self.routes, self.order, self.path = routes, order, path

    def allow_transition(self, source: str, target: str) -> bool:
        operation = self._find_operation(target)
        is_repeated = self.path.count(operation) >= SUCCESSES_MAX
        return (
            not is_repeated and self._is_due(operation) and super().allow_transition(source, target)
        )

    def allow_root_transition(self, source: str, bundles: Any) -> bool:
        """Also repeatedly: a chain must always be able to continue."""
        is_due = self._is_due(self._find_operation(source))
        return is_due and super().allow_root_transition(source, bundles)

    def _find_operation(self, label: str) -> str:
        method, _, path = label.partition(" ")
        return self.routes[method, shape_of(path)].operation

    def _is_due(self, operation: str) -> bool:
        return set(self.order[operation]) <= set(self.path)


@dataclass
class Chain:
    """The successful operations of one chain, and the invoices that it created."""

    path: list[str] = field(default_factory=list)
    invoices: set[str] = field(default_factory=set)  # addresses

    def record(self, operation: str, request: Request, answer: Answer) -> bool:
        """Whether the request succeeded; of invoices, only those of this chain count."""
        if answer.status >= 300:
            return False
        self.path.append(operation)
        if operation == "create_invoices":
            self.invoices |= {
                f"/m/core/invoices/{MONTH}/{invoice['company_id']}/{VENDOR}"
                for invoice in answer.json()["created"]
            }
        is_invoice = operation in ("read_invoice", "print_invoice")
        return not is_invoice or request.path.decode().removesuffix("/pdf") in self.invoices


def _build_machine(
    base: Any,
    linked: LinkedRequests,
    routes: Mapping[tuple[str, str], Route],
    order: Mapping[str, Collection[str]],
) -> Any:
    class ChainMachine(base):  # type: ignore[misc]  # a class that schemathesis makes
        """Sends the requests of one chain as the root user of a new organisation."""

        control: TransitionController

        def setup(self) -> None:
            self.tenant = linked.new_tenant()
            self.chain = Chain()
            self.control = OrderedControl(self.control, routes, order, self.chain.path)

        def step(self, input: StepInput) -> StepOutput | None:  # noqa: A002  # named by schemathesis
            case = input.case
            request = as_request(case)
            if request is None:
                return None
            route = routes[case.method.upper(), shape_of(case.operation.path)]
            answer = self.send(route, request)
            if answer is None:
                return None
            if self.chain.record(route.operation, request, answer):
                linked.succeeded[route.operation] += 1
            response = _as_response(case, answer)
            self.after_call(response, case)
            return StepOutput(response, case)

        def send(self, route: Route, request: Request) -> Answer | None:
            organisation, product = self.tenant.organisation, route.products[0]
            token = linked.service.root(organisation, product, agent=route.for_agents)
            kept = [pair for pair in request.headers if pair[0] != b"authorization"]
            with_token = replace(request, headers=[*kept, *as_headers(token)])
            path = " → ".join([*self.chain.path, route.operation])
            linked.sent += 1
            return linked.service.run(lambda: linked.send(with_token, path))

    return ChainMachine


def _as_response(case: Any, answer: Answer) -> Response:
    return Response(
        status_code=answer.status,
        headers={name: [value] for name, value in answer.headers.items()},
        content=answer.body,
        request=requests.Request(case.method, BASE).prepare(),
        elapsed=answer.seconds,
        verify=False,
    )
