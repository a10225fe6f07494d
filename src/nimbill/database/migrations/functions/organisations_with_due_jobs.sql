-- Lists the organisations with a job that is due or whose lease has expired. Runs as the owner
-- because row-level security hides other organisations' rows.
CREATE FUNCTION organisations_with_due_jobs(at timestamptz) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT organisation_id FROM jobs
    WHERE (state = 'waiting' AND due <= at) OR (state = 'running' AND leased_until < at)
$$;
