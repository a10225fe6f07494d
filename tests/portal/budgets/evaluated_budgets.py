"""Compares the budgets of a customer as the job after an import does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.mail.messages import Message
from nimbill.portal.budgets import evaluation
from nimbill.portal.budgets.evaluation import Evaluation
from tests.portal.daily_costs import MONTH, TODAY
from tests.portal.portal_customer import PortalCustomer


def evaluate(
    customer: PortalCustomer,
    month: str = MONTH,
    on_message: Callable[[Message], None] | None = None,
) -> list[Message]:
    """Compare the budgets of the customer and return the mails that were queued."""
    messages: list[Message] = []
    service = customer.service
    scope = TenantScope(service.organisation.organisation_id)

    async def queue(_db: Any, _scope: Any, _encryptor: Any, message: Message) -> None:
        if on_message is not None:
            on_message(message)
        messages.append(message)

    async def run() -> None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            encryptor = service.resources.encryptor
            work = Evaluation(service.settings, encryptor, scope, customer.company_id)
            await work.run(db, month, TODAY)

    with patch.object(evaluation, "queue_message", queue):
        service.run(run)
    return messages
