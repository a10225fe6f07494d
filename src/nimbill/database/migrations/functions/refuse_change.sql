-- Trigger function: refuses every change of a table's rows.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % cannot be changed', TG_TABLE_NAME;
END $$;
