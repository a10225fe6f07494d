"""Billing groups: the customers who receive invoices, and their terms."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from nimbill_client.bodies import (
    BillingGroupCreate,
    BillingGroupCreated,
    BillingGroupRecord,
    BillingGroupsCreated,
    BillingGroupUpdate,
    ExportPath,
    FreeFormatItem,
    InvoiceSetting,
    Success,
    SupportFeeTarget,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import BilledVendor

PATH = "/m/core/billinggroup"
GROUP_PATH = "/m/core/billinggroup/{company_id}"


def build_setting_body(
    vendor: BilledVendor, setting: InvoiceSetting, target: SupportFeeTarget | None
) -> dict[str, object]:
    """The body that saves or previews terms."""
    body: dict[str, object] = {"vendor": vendor, "invoices": setting}
    if target is not None:
        body["support_fee_target"] = target
    return body


class BillingGroups:
    """A billing group is named by its `company_id`, which the service chooses."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self) -> Iterator[BillingGroupRecord]:
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[BillingGroupRecord], Call(method="GET", path=PATH, query=page)
            )
        )

    def find(self, billinggroup_id: str) -> BillingGroupRecord | None:
        """Search by the id that you gave to the group."""
        groups = (group for group in self.list_all() if group.billinggroup_id == billinggroup_id)
        return next(groups, None)

    def read(self, company_id: str) -> BillingGroupRecord:
        path = "/m/core/billinggroup/{company_id}/resource"
        call = Call(method="GET", path=path, ids={"company_id": company_id})
        return self._connection.fetch(BillingGroupRecord, call)

    def create(self, group: BillingGroupCreate, *, key: str | None = None) -> BillingGroupCreated:
        call = Call(method="POST", path=PATH, body=group, key=key)
        return self._connection.fetch(BillingGroupCreated, call)

    def create_from_csv(self, content: bytes, *, key: str | None = None) -> BillingGroupsCreated:
        """Create a group for each line of a CSV file, or none if one line is refused."""
        call = Call(method="POST", path="/m/core/billinggroup/csv", csv=content, key=key)
        return self._connection.fetch(BillingGroupsCreated, call)

    def update(self, company_id: str, group: BillingGroupUpdate, *, key: str | None = None) -> None:
        self._change(GROUP_PATH, company_id, group, key)

    def delete(self, company_id: str, *, key: str | None = None) -> None:
        call = Call(method="DELETE", path=GROUP_PATH, ids={"company_id": company_id}, key=key)
        self._connection.fetch(Success, call)

    def save_invoice_setting(
        self,
        company_id: str,
        vendor: BilledVendor,
        setting: InvoiceSetting,
        *,
        support_fee_target: SupportFeeTarget | None = None,
        key: str | None = None,
    ) -> None:
        """Save the terms that new months begin with.

        `support_fee_target` has both parts of what the support fee is calculated on; the setting
        names one of them.
        """
        body = build_setting_body(vendor, setting, support_fee_target)
        self._change("/m/core/billinggroup/{company_id}/invoices", company_id, body, key)

    def save_items(
        self,
        company_id: str,
        vendor: BilledVendor,
        items: Sequence[FreeFormatItem],
        *,
        key: str | None = None,
    ) -> None:
        """Replace the additional items that are printed on every invoice of this vendor."""
        call = Call(
            method="POST",
            path="/m/core/billinggroup/{company_id}/freeformat/{vendor}",
            ids={"company_id": company_id, "vendor": vendor},
            body={"additional_items": items},
            key=key,
        )
        self._connection.fetch(Success, call)

    def delete_items(
        self, company_id: str, vendor: BilledVendor | None = None, *, key: str | None = None
    ) -> None:
        """Delete the additional items of one vendor, or of all."""
        path, ids = "/m/core/billinggroup/{company_id}/freeformat", {"company_id": company_id}
        if vendor is not None:
            path, ids = f"{path}/{{vendor}}", {**ids, "vendor": vendor}
        self._connection.fetch(Success, Call(method="DELETE", path=path, ids=ids, key=key))

    def link_invoice_template(
        self, company_id: str, invoice_template_id: str | None, *, key: str | None = None
    ) -> None:
        """Choose the issuer that the group's invoices name; None removes the choice."""
        body = {"invoice_template_id": invoice_template_id}
        self._change("/m/core/billinggroup/{company_id}/invoicetemplate", company_id, body, key)

    def export_csv(self, file: Path) -> Path:
        """Write all billing groups to a CSV file."""
        return self._export("/m/core/exportcsv/billing-group", file)

    def export_settings_csv(self, file: Path) -> Path:
        """Write the terms of all billing groups to a CSV file."""
        return self._export("/m/core/exportcsv/billing-group-setting", file)

    def _export(self, path: str, file: Path) -> Path:
        call = Call(method="POST", path=path, body={"redo": True})
        return self._connection.download_link(self._connection.fetch(ExportPath, call).path, file)

    def _change(self, path: str, company_id: str, body: object, key: str | None) -> None:
        ids = {"company_id": company_id}
        call = Call(method="POST", path=path, ids=ids, body=body, key=key)
        self._connection.fetch(Success, call)
