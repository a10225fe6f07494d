"""The rows of the two billing group files: addresses, and invoice settings per vendor."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from nimbill.customers.billing_groups.records import BillingGroupRecord
from nimbill.invoicing.exports.csv_file import Cell


def build_billing_group_rows(
    groups: Iterable[BillingGroupRecord], costs: Mapping[str, Decimal]
) -> Iterator[tuple[Cell, ...]]:
    """One row per group; `costs` is keyed by company_id, and missing costs are empty cells."""
    for group in groups:
        yield (
            group.billinggroup_id,
            group.billinggroup_name,
            group.name,
            group.postal,
            group.address,
            group.phone,
            group.contact,
            group.title,
            costs.get(group.company_id),
            None,
        )


def build_setting_rows(
    groups: Iterable[BillingGroupRecord],
) -> Iterator[tuple[Cell, ...]]:
    """One row per group and vendor."""
    for group in groups:
        for vendor, setting in group.invoices.items():
            yield (
                group.billinggroup_id,
                group.billinggroup_name,
                vendor,
                setting.discount_rate,
                setting.tax_rate,
                setting.support_fee,
                setting.support_rate,
                setting.support_fix,
                setting.substitution_fee,
                setting.substitution_rate,
                setting.substitution_fix,
                setting.calc_type,
                setting.discount_target_usage,
                setting.substitution_fee_calc_target,
            )
