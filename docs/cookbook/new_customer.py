"""Create a customer: a billing group with your usual terms, and its AWS accounts."""

import argparse
from collections.abc import Sequence
from decimal import Decimal

from nimbill_client import (
    BillingGroupCreate,
    Client,
    CloudAccountCreate,
    InvoiceSetting,
    NimbillError,
)

TERMS = InvoiceSetting(
    calc_type="account",
    currency="jpy",
    discount_calc_logic="usageamount",
    discount_rate=Decimal("0.05"),
    discount_target_usage="cloudpaywithfee",
    substitution_fee="percent",
    substitution_fee_calc_target="discounted",
    substitution_fee_calc_type="allsum",
    substitution_fee_target_usage="cloudpaywithfee",
    substitution_fix=Decimal(0),
    substitution_rate=Decimal("0.03"),
    support_amount_target="allusage",
    support_fee="aws_business",
    support_fee_calc_target="nondiscount",
    support_fix=Decimal(0),
    support_rate=Decimal(0),
    tax_rate=Decimal("0.10"),
)


def create_customer(
    client: Client, group_id: str, company: str, payer: str, accounts: Sequence[str]
) -> str:
    """Return the company_id. The keys let you run the script again after an interruption."""
    group = BillingGroupCreate(
        billinggroup_id=group_id,
        billinggroup_name=company,
        company_name=company,
        inv_aggregate=False,
        invoices={"aws": TERMS},
    )
    company_id = client.billing_groups.create(group, key=f"new-{group_id}").company_id
    for number in accounts:
        account = CloudAccountCreate(
            vendor="aws",
            customer_id=number,
            account_id=payer,
            company_id=company_id,
            name=f"{company} {number}",
        )
        client.accounts.create(account, key=f"new-{group_id}-{number}")
    return company_id


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group_id", help="your own id of the customer, such as BG-7")
    parser.add_argument("company", help="the name on the invoice")
    parser.add_argument("--payer", required=True, help="the number of the paying account")
    parser.add_argument("--account", action="append", default=[], help="can be repeated")
    given = parser.parse_args(arguments)

    with Client.from_environment() as client:
        try:
            company_id = create_customer(
                client, given.group_id, given.company, given.payer, given.account
            )
        except NimbillError as error:
            print(error)
            return 1
    print(f"Created {given.group_id} as {company_id} with {len(given.account)} accounts.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
