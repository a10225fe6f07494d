"""A stored PDF never changes."""

from __future__ import annotations

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.invoicing.documents.stored_pdfs import store_pdf
from tests.running_service import Service


def test_the_pdf_that_was_stored_first_is_returned(service: Service) -> None:
    scope = TenantScope(service.organisation.organisation_id)

    async def store(content: bytes) -> bytes:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            return await store_pdf(db, scope, "pap_1", content)

    assert service.run(lambda: store(b"first")) == b"first"
    assert service.run(lambda: store(b"second")) == b"first"
