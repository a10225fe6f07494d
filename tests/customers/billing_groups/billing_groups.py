"""Create and read billing groups, and the records that they refer to."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.identity.organisations.operations import NewOrganisation
from tests.running_service import Service

PATH = "/m/core/billinggroup"

INSERT_PROJECT = """
INSERT INTO projects (organisation_id, project_id, project_code, project_label, project_currency)
VALUES (:organisation_id, :id, :code, 'さくら移行', 'jpy')
"""
INSERT_TEMPLATE = """
INSERT INTO invoice_templates (organisation_id, invoice_template_id, content)
VALUES (:organisation_id, :id, '{"name": "plain", "company": "さくら商事"}')
"""


def add_project(
    service: Service, project_id: str, organisation: NewOrganisation | None = None
) -> None:
    _insert(service, INSERT_PROJECT, organisation, id=project_id, code=f"code of {project_id}")


def add_invoice_template(
    service: Service, template_id: str, organisation: NewOrganisation | None = None
) -> None:
    _insert(service, INSERT_TEMPLATE, organisation, id=template_id)


def _insert(
    service: Service, statement: str, organisation: NewOrganisation | None, **values: Any
) -> None:
    organisation_id = (organisation or service.organisation).organisation_id

    async def insert() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            values["organisation_id"] = organisation_id
            await db.execute(sa.text(statement), values)

    service.run(insert)


def create_billing_group(service: Service, headers: dict[str, str], **fields: Any) -> str:
    """Create a group with the required fields and these; return its company_id."""
    body = {"billinggroup_name": "name", "company_name": "company", "inv_aggregate": False}
    response = service.http.post(PATH, json=body | fields, headers=headers)
    assert response.status_code == 200, response.text
    company_id: str = response.json()["company_id"]
    return company_id


def read_billing_group(service: Service, company_id: str) -> dict[str, Any]:
    response = service.http.get(f"{PATH}/{company_id}/resource", headers=service.root())
    assert response.status_code == 200, response.text
    record: dict[str, Any] = response.json()
    return record


def list_group_ids(service: Service, headers: dict[str, str] | None = None) -> list[str]:
    """Return the billinggroup_id of every group that the caller sees, in the order of the list."""
    response = service.http.get(PATH, headers=headers or service.root())
    assert response.status_code == 200, response.text
    return [record["billinggroup_id"] for record in response.json()]
