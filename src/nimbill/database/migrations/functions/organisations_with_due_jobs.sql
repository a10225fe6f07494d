-- Lists the organisations with a job that is due or whose lease has expired, of the given kinds, or of
-- all others with `excluded`. Runs as the owner because row-level security hides other organisations'
-- rows.
CREATE FUNCTION organisations_with_due_jobs(at timestamptz, kinds text[], excluded boolean)
RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT organisation_id FROM jobs
    -- a running job was due when it was claimed, so the index of due jobs serves both
    WHERE state IN ('waiting', 'running') AND due <= at
        AND (state = 'waiting' OR leased_until < at)
        AND (kind = ANY (kinds)) <> excluded
$$;
