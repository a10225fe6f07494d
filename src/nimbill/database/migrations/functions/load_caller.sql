-- Loads the caller of a request in one round trip and sets the transaction's organisation.
-- Returns no row if the user, the client or session, or the signing key does not exist, or if the
-- family of refresh tokens that the token was issued with is revoked. Root users and resellers have
-- no roles or filters, so these are not queried for them.
CREATE FUNCTION load_caller(
    organisation text, caller text, client text, audience text, key_id text, family text
)
RETURNS TABLE (
    username text, kind text, root_user text, credential_epoch integer,
    permissions text[], billing_groups text[], company_id text, meta jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    current_organisation text := set_config('nimbill.organisation', organisation, true);
BEGIN
    SELECT u.username, u.kind, u.root_user, u.credential_epoch, s.company_id, s.meta
    INTO username, kind, root_user, credential_epoch, company_id, meta
    FROM users u
    LEFT JOIN resellers s ON s.organisation_id = organisation AND s.user_id = u.root_user
    WHERE u.organisation_id = organisation AND u.user_id = caller
        AND EXISTS (SELECT FROM signing_keys k WHERE k.kid = key_id AND k.product = audience)
        AND (
            EXISTS (
                SELECT FROM api_clients c
                WHERE c.organisation_id = organisation AND c.client_id = client
            )
            OR EXISTS (
                SELECT FROM token_families t
                WHERE t.organisation_id = organisation AND t.family_id = client
                    AND t.user_id = caller AND t.client_id IS NULL AND NOT t.revoked
            )
        )
        AND (
            family IS NULL
            OR NOT EXISTS (
                SELECT FROM token_families t
                WHERE t.organisation_id = organisation AND t.family_id = family AND t.revoked
            )
        );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF kind NOT IN ('root', 'reseller') THEN
        permissions := ARRAY(
            SELECT DISTINCT unnest(r.permissions)
            FROM role_mappings m JOIN roles r ON r.organisation_id = m.organisation_id
                AND r.root_user = m.root_user AND r.namespace = m.namespace AND r.name = m.role
            WHERE m.organisation_id = organisation AND m.user_id = caller
                AND m.namespace = audience
        );
        billing_groups := (
            SELECT array_agg(f.resource) FROM role_filters f
            WHERE f.organisation_id = organisation AND f.user_id = caller
                AND f.namespace = 'core' AND f.type = 'billingGroup'
        );
    END IF;
    RETURN NEXT;
END $$;
