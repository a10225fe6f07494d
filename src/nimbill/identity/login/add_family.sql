WITH added AS (
    INSERT INTO token_families (
        organisation_id, family_id, user_id, client_id, product, subject_type, credential_epoch,
        revoked, create_time, user_agent, address
    ) VALUES ($1, $2, $3, $4, $5, $6, $7, false, $8, $10, $11)
    RETURNING organisation_id, family_id, create_time
)
INSERT INTO refresh_tokens (organisation_id, family_id, token_hash, issue_time)
SELECT organisation_id, family_id, $9, create_time FROM added
RETURNING family_id
