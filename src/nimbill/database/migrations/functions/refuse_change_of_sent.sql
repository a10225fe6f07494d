-- Trigger of invoices: the row of a sent invoice changes only when another invoice replaces it, which
-- is recorded before and has a number of its own.
CREATE FUNCTION refuse_change_of_sent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.cancelled_time IS NULL AND NEW.cancelled_time IS NULL AND NEW.sent_time IS NULL
        AND (NEW.organisation_id, NEW.month, NEW.company_id, NEW.vendor, NEW.revision,
            NEW.create_time)
        = (OLD.organisation_id, OLD.month, OLD.company_id, OLD.vendor, OLD.revision,
            OLD.create_time)
        AND EXISTS (
            SELECT FROM replaced_invoices AS replaced
            WHERE replaced.organisation_id = OLD.organisation_id
                AND replaced.month = OLD.month
                AND replaced.number = OLD.number
                AND replaced.company_id = OLD.company_id
                AND replaced.vendor = OLD.vendor
                AND replaced.replacement_number = NEW.number
        )
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of % cannot be changed', TG_TABLE_NAME;
END $$;
