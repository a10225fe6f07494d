"""The digest of the isolation tests notices every change of a row, and nothing else."""

from __future__ import annotations

from nimbill.database.embedded_postgres import Address
from tests.contract.superuser import connect_superuser
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.running_service import Service


def test_a_digest_notices_inserted_changed_and_deleted_rows(
    service: Service, superuser: Address
) -> None:
    own = service.organisation.organisation_id
    other = service.new_organisation().organisation_id
    with connect_superuser(service, superuser) as db:
        digests = [db.digest(own, other)]
        group = create_billing_group(service, service.root(), billinggroup_id="BG-1")
        digests.append(db.digest(own, other))
        for statement in (
            "UPDATE billing_groups SET company_name = company_name WHERE company_id = $1",
            "DELETE FROM billing_groups WHERE company_id = $1",
        ):
            db.sql(statement, group)
            digests.append(db.digest(own, other))
        db.sql("UPDATE jobs SET due = due WHERE subject = 'maintenance'")
        last = db.digest(own, other)

    counts = [each[own].get("billing_groups", 0) for each in digests]
    assert counts == [0, 1, 2, 3]
    assert {str(each[other]) for each in digests} == {"{}"}
    assert last == digests[-1]
