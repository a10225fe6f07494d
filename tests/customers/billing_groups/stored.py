"""Records that billing groups refer to, put where their own rooms would put them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.identity.organisations.operations import NewOrganisation
from tests.running_service import Service

PATH = "/m/core/billinggroup"

PROJECT = """
INSERT INTO projects (organisation_id, project_id, project_code, project_label, project_currency)
VALUES (:organisation_id, :id, :code, 'さくら移行', 'jpy')
"""
TEMPLATE = """
INSERT INTO invoice_templates (organisation_id, invoice_template_id, content)
VALUES (:organisation_id, :id, '{"name": "plain", "company": "さくら商事"}')
"""


def add_project(service: Service, project_id: str, who: NewOrganisation | None = None) -> None:
    _insert(service, PROJECT, who, id=project_id, code=f"code of {project_id}")


def add_invoice_template(
    service: Service, template_id: str, who: NewOrganisation | None = None
) -> None:
    _insert(service, TEMPLATE, who, id=template_id)


def _insert(service: Service, statement: str, who: NewOrganisation | None, **values: Any) -> None:
    organisation_id = (who or service.organisation).organisation_id

    async def insert() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            values["organisation_id"] = organisation_id
            await db.execute(sa.text(statement), values)

    service.run(insert)


def create(service: Service, headers: dict[str, str], **fields: Any) -> str:
    """Create a group with these fields and the required ones; its company_id."""
    body = {"billinggroup_name": "name", "company_name": "company", "inv_aggregate": False}
    answer = service.http.post(PATH, json=body | fields, headers=headers)
    assert answer.status_code == 200, answer.text
    company_id: str = answer.json()["company_id"]
    return company_id
