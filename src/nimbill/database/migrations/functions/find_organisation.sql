-- Looks up the organisation of an exact key before the tenant is known. Runs as the owner because
-- row-level security hides other organisations' rows.
CREATE FUNCTION find_organisation(wanted_kind text, wanted_key text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT organisation_id FROM directory WHERE kind = wanted_kind AND key = wanted_key
$$;
