-- Loads the stack of an agent's token in one round trip and sets the transaction's organisation.
-- Returns no row if the stack is deleted or the signing key does not exist.
CREATE FUNCTION load_agent_caller(organisation text, stack text, key_id text)
RETURNS TABLE (nickname text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('nimbill.organisation', organisation, true);
    RETURN QUERY
    SELECT s.nickname FROM legacy_stacks s
    WHERE s.organisation_id = organisation AND s.stack_id = stack
        AND s.stack_status <> 'DELETE_COMPLETE'
        AND EXISTS (SELECT FROM signing_keys k WHERE k.kid = key_id AND k.product = 'legacy');
END $$;
