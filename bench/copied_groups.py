"""The statement that copies the first billing group of a benchmark, which the service created."""

COPY_BILLING_GROUP = """
    INSERT INTO billing_groups SELECT organisation_id, 'cmp_' || number,
        'BG-' || lpad(number::text, 10, '0'), billinggroup_name, company_name, phone, postal,
        address, billing_title, personal, remarks, inv_aggregate, project_id,
        invoice_template_id, language, create_time
    FROM billing_groups, generate_series(2, :groups) AS number
    """
