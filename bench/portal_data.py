"""Statements that fill an organisation with customers for the benchmark of portal pages.

The first customer is the one that reads pages: each of its accounts has costs on every day. All
other customers have fewer rows per account, so that 50,000 accounts fit on a small machine.
"""

from bench.copied_groups import COPY_BILLING_GROUP, COPY_INVOICE_SETTINGS
from nimbill.portal.report_months import list_months

ACCOUNTS_PER_GROUP = 10
FIRST_MONTH, LAST_MONTH = "2025-09", "2026-09"
MONTHS = list_months(FIRST_MONTH, LAST_MONTH)
PAYER = "000000000000"

# The service creates the first group; these statements copy it and add what it has.
COPY_STATEMENTS = (
    COPY_BILLING_GROUP,
    COPY_INVOICE_SETTINGS,
    """
    INSERT INTO cloud_accounts (organisation_id, customer_id, vendor, account_id, company_id, name)
    SELECT g.organisation_id,
        lpad(row_number() OVER (ORDER BY g.billinggroup_id, number)::text, 12, '0'), 'aws',
        '000000000000', g.company_id, 'さくら本番 ' || number
    FROM billing_groups g, generate_series(1, :accounts) AS number
    """,
    """
    INSERT INTO account_groups (organisation_id, company_id, group_id, name)
    SELECT organisation_id, company_id, 'agr_' || company_id || number, 'group ' || number
    FROM billing_groups, generate_series(1, 3) AS number
    """,
    """
    INSERT INTO account_group_members (organisation_id, group_id, customer_id)
    SELECT organisation_id, 'agr_' || company_id || (customer_id::bigint % 3 + 1), customer_id
    FROM cloud_accounts WHERE customer_id::bigint % 4 > 0
    """,
    """
    INSERT INTO budget_settings (organisation_id, company_id, budgets)
    SELECT organisation_id, company_id, :budgets FROM billing_groups
    """,
)

BUDGETS = """[
    {"budget_id": "bud_1", "name": "all", "target": "company", "target_id": null,
     "amount": 1000000, "currency": "jpy", "thresholds": [{"percent": 80, "of": "actual"}]},
    {"budget_id": "bud_2", "name": "red", "target": "tag", "target_id": "Team=red",
     "amount": 500000, "currency": "jpy", "thresholds": [{"percent": 80, "of": "forecast"}]}
]"""

# The first customer has costs on 28 days of a month, the others on two.
_DAYS = """
    LATERAL (SELECT CAST(:month || '-01' AS date) + number AS day, number FROM
        generate_series(0, CASE WHEN a.company_id = :company THEN 27 ELSE 1 END) AS number) AS days
"""
_SERVICES = "unnest(ARRAY['AmazonEC2', 'AmazonS3']) WITH ORDINALITY AS services (service, n)"
_COST = "12.3456789 * (number + n) + a.customer_id::bigint % 7"
# executed for every month
MONTH_STATEMENTS = (
    """
    INSERT INTO monthly_invoice_settings SELECT saved.* FROM invoice_settings s
    CROSS JOIN LATERAL jsonb_populate_record(NULL::monthly_invoice_settings, to_jsonb(s) ||
        jsonb_build_object('month', CAST(:month AS text), 'exchange_rate', 150.25,
            'update_time', now())) AS saved
    """,
    f"""
    INSERT INTO cost_sums SELECT a.organisation_id, a.vendor, account_id, :month, customer_id,
        'Usage', 'usage', service, false, day, 'USD',
        ({_COST}) * CASE WHEN number = 20 AND a.name LIKE '% 1' THEN 50 ELSE 1 END, 30
    FROM cloud_accounts a, {_SERVICES}, {_DAYS}
    """,
    f"""
    INSERT INTO cost_tag_sums SELECT a.organisation_id, a.vendor, account_id, :month, customer_id,
        'Usage', 'usage', service, false, 'Team', team, 'USD', 1.2345 * n, 5
    FROM cloud_accounts a, {_SERVICES}, unnest(ARRAY['red', 'blue']) AS team
    WHERE a.company_id = :company OR (team = 'red' AND n = 1)
    """,
    f"""
    INSERT INTO cost_tagged_sums SELECT a.organisation_id, a.vendor, account_id, :month,
        customer_id, 'Usage', 'usage', service, false, day,
        jsonb_build_object('Team', team, 'Stage', CASE WHEN n = 1 THEN 'prod' ELSE 'test' END),
        'USD', {_COST}, 15
    FROM cloud_accounts a, {_SERVICES}, {_DAYS}, unnest(ARRAY['red', 'blue']) AS team
    WHERE a.company_id = :company OR (team = 'red' AND number = 0 AND n = 1)
    """,
    """
    INSERT INTO cost_months (organisation_id, vendor, payer_id, month, import_id, provisional,
        lines, tag_keys)
    SELECT organisation_id, 'aws', '000000000000', :month, 'imp_1', false, 1, '{Team,Stage}'
    FROM organisations
    """,
)
# executed for every month but the last, which has no invoices yet
INVOICE_STATEMENTS = (
    """
    INSERT INTO invoices (organisation_id, month, company_id, vendor, number, revision,
        create_time, update_time)
    SELECT organisation_id, :month, company_id, 'aws',
        row_number() OVER (ORDER BY billinggroup_id), 1, now(), now() FROM billing_groups
    """,
    """
    INSERT INTO invoice_revisions (organisation_id, month, company_id, vendor, revision, run_id,
        currency, pre_tax, taxable, tax_rate, tax, total, pre_tax_usd, discount_rate, exchange_rate,
        vendor_cost, cost_currency, issue_date, due_date, counterparty, warnings, saved_inputs,
        document, create_time)
    SELECT organisation_id, month, company_id, 'aws', 1, 'run_' || month, currency, 10000, 10000,
        0.1, 1000, 11000, 70, discount_rate, 149.75, 65, 'USD', month || '-28', NULL, '', '{}',
        '{}', json_build_object('issue_date', month || '-28', 'due_date', NULL, 'sheet',
            CASE WHEN company_id = :company
                THEN (SELECT array_agg(number) FROM generate_series(1, 4000) AS number) END)::text,
        now()
    FROM monthly_invoice_settings WHERE month = :month
    """,
)
_NUMBERS = """
    generate_series(1, CASE WHEN a.company_id = :company THEN 3 ELSE 1 END) AS number
"""
# executed once, for the last month
LAST_MONTH_STATEMENTS = (
    f"""
    INSERT INTO recalculation_entries SELECT a.organisation_id, 'ent_' || customer_id || number,
        vendor, account_id, :month, customer_id, 'Fee', 'linked', 'fee ' || number, 'EC2', 'EC2',
        'USD', 7.77 * number, '', now(), NULL, true, :month, 0, false
    FROM cloud_accounts a, {_NUMBERS}
    """,
    f"""
    INSERT INTO reserved_instances SELECT a.organisation_id, 'ri_' || customer_id || number,
        vendor, 'res-' || customer_id || number, customer_id, '', '2026-01-01Z', '2027-01-01Z',
        'm5.large', '', 'standard', '', 'No Upfront', 'Linux', 'ap-northeast-1', 'Region',
        'AmazonEC2', 'Shared', '1yr', 'BoxUsage', '', 4, 10, 0, 0
    FROM cloud_accounts a, {_NUMBERS}
    """,
    """
    INSERT INTO reservation_fees SELECT organisation_id, ri_id, :month, '000000000000', 'USD',
        432.1, 10 FROM reserved_instances
    """,
    f"""
    INSERT INTO commitment_usage SELECT a.organisation_id, vendor, account_id, :month, customer_id,
        'usage', 'USD', 11.11 * number, 10, 5000, 10, line_type,
        CASE WHEN line_type = 'DiscountedUsage' THEN 'res-' || customer_id || number ELSE '' END,
        CASE WHEN line_type = 'DiscountedUsage' THEN '' ELSE 'sp-' || customer_id || number END,
        line_type <> 'SavingsPlanRecurringFee', 20000, 10, 10.5, 10, '2026-01-01T00:00:00Z',
        '2027-01-01T00:00:00Z', 'No Upfront', '1yr'
    FROM cloud_accounts a, {_NUMBERS},
        unnest(ARRAY['DiscountedUsage', 'SavingsPlanCoveredUsage', 'SavingsPlanRecurringFee'])
            AS line_type
    """,
    f"""
    INSERT INTO on_demand_usage SELECT a.organisation_id, vendor, account_id, :month, customer_id,
        'usage', 'USD', 33.33 * number, 10, 720 * number, 10, 'AmazonEC2',
        'BoxUsage:m5.' || number, 'Linux', 'Shared', 30, 'ap-northeast-1', 'm5.' || number
    FROM cloud_accounts a, {_NUMBERS}
    """,
)
