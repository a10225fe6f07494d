-- Counts jobs, imports and invoice runs of all organisations for the metrics, without their names.
-- `due_seconds` is how long the oldest of these jobs has been due. Runs as the owner because
-- row-level security hides other organisations' rows.
CREATE FUNCTION count_service_records(at timestamptz)
RETURNS TABLE (record text, kind text, state text, number bigint, due_seconds double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'job', j.kind, j.queue_state, count(*),
        extract(epoch FROM at - min(j.due))::double precision
    FROM (
        SELECT jobs.kind, jobs.due, CASE
            WHEN jobs.state = 'running' AND jobs.leased_until >= at THEN 'running'
            WHEN jobs.due <= at THEN 'due'
            WHEN jobs.attempts > 0 THEN 'retrying'
            ELSE 'scheduled'
        END AS queue_state
        FROM jobs WHERE jobs.state IN ('waiting', 'running')
    ) j GROUP BY j.kind, j.queue_state
    UNION ALL
    SELECT 'job', jobs.kind, 'failed', count(*), NULL FROM jobs
    WHERE jobs.state = 'failed' GROUP BY jobs.kind
    UNION ALL
    SELECT 'import', i.vendor, i.state, count(*), NULL FROM cost_imports i GROUP BY i.vendor, i.state
    UNION ALL
    SELECT 'invoice_run', r.vendor, r.state, count(*), NULL FROM invoice_runs r
    GROUP BY r.vendor, r.state
$$;
