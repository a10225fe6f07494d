-- Looks up the organisation of an exact key before the tenant is known. Runs as the owner because
-- row-level security hides other organisations' rows.
CREATE FUNCTION find_organisation_id(lookup_kind text, lookup_key text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT organisation_id FROM tenant_lookups WHERE kind = lookup_kind AND key = lookup_key
$$;
