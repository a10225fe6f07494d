-- Tells whether there are organisations besides this one. Runs as the owner because row-level
-- security hides other organisations' rows.
CREATE FUNCTION has_other_organisations(organisation text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM tenant_lookups
        WHERE kind = 'organisation' AND organisation_id <> organisation
    )
$$;
