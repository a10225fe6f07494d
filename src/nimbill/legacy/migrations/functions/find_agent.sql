-- Loads a stack and the active signing key in one round trip of an agent's login, and sets the
-- transaction's organisation. The stack's columns are null if it does not exist or is deleted.
CREATE FUNCTION find_agent(lookup_stack_id text)
RETURNS TABLE (organisation_id text, token_hash bytea, kid text) LANGUAGE plpgsql AS $$
DECLARE
    organisation text := find_organisation_id('stack', lookup_stack_id);
BEGIN
    PERFORM set_config('nimbill.organisation', coalesce(organisation, ''), true);
    RETURN QUERY
    SELECT s.organisation_id, s.token_hash, k.kid
    FROM signing_keys k
    LEFT JOIN legacy_stacks s ON s.organisation_id = organisation
        AND s.stack_id = lookup_stack_id AND s.stack_status <> 'DELETE_COMPLETE'
    WHERE k.product = 'legacy' AND k.state = 'active';
END $$;
