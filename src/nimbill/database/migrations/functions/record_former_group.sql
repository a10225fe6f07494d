-- Trigger of cloud_accounts: keeps the billing group that an account leaves, or is deleted from.
CREATE FUNCTION record_former_group() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO former_account_groups (organisation_id, customer_id, vendor, company_id, left_at)
    VALUES (OLD.organisation_id, OLD.customer_id, OLD.vendor, OLD.company_id, now());
    RETURN NULL;
END $$;
