-- Lists the organisations with a job that is due or whose lease has expired. Runs as the owner because
-- row-level security hides other organisations' rows.
CREATE FUNCTION organisations_with_work(moment timestamptz) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT organisation_id FROM work
    WHERE (state = 'waiting' AND due <= moment) OR (state = 'running' AND lease_until < moment)
$$;
