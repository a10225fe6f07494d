"""Statements that copy the first billing group of a benchmark, which the service created."""

COPY_BILLING_GROUP = """
    INSERT INTO billing_groups SELECT organisation_id, 'cmp_' || number,
        'BG-' || lpad(number::text, 10, '0'), billinggroup_name, company_name, phone, postal,
        address, billing_title, personal, remarks, inv_aggregate, project_id,
        invoice_template_id, language, create_time
    FROM billing_groups, generate_series(2, :groups) AS number
    """

COPY_INVOICE_SETTINGS = """
    INSERT INTO invoice_settings SELECT copy.* FROM invoice_settings s
    JOIN billing_groups g ON g.company_id <> s.company_id
    CROSS JOIN LATERAL jsonb_populate_record(s, jsonb_build_object('company_id', g.company_id))
        AS copy
    """
