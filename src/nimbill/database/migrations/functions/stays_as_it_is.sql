-- Trigger function: refuses every change of a table's rows.
CREATE FUNCTION stays_as_it_is() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% never changes', TG_TABLE_NAME; END $$;
