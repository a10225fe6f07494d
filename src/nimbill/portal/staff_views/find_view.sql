SELECT v.client_id, v.family_id, v.credential_epoch, v.expire_time,
    v.account_id, u.username, s.company_id, s.meta
FROM portal_views v
JOIN users u ON u.organisation_id = v.organisation_id AND u.user_id = v.account_id
JOIN resellers s ON s.organisation_id = v.organisation_id AND s.user_id = v.account_id
WHERE v.organisation_id = $1 AND v.view_id = $2 AND v.user_id = $3 AND v.expire_time > $4
    AND EXISTS (SELECT FROM signing_keys k WHERE k.kid = $5 AND k.product = $6)
