-- Loads an API client and the active signing key in one round trip of a login, and sets the
-- transaction's organisation. The client's columns are null if it does not exist.
CREATE FUNCTION find_api_client(lookup_client_id text, lookup_product text)
RETURNS TABLE (
    organisation_id text, user_id text, secret_hash bytea, credential_epoch integer, kid text,
    kind text
) LANGUAGE plpgsql AS $$
DECLARE
    organisation text := find_organisation_id('api_client', lookup_client_id);
BEGIN
    PERFORM set_config('nimbill.organisation', coalesce(organisation, ''), true);
    RETURN QUERY
    SELECT c.organisation_id, c.user_id, c.secret_hash, u.credential_epoch, k.kid, u.kind
    FROM signing_keys k
    LEFT JOIN (api_clients c JOIN users u USING (organisation_id, user_id))
        ON c.organisation_id = organisation AND c.client_id = lookup_client_id
    WHERE k.product = lookup_product AND k.state = 'active';
END $$;
