SELECT organisation_id, user_id, secret_hash, kind, credential_epoch, kid
FROM find_api_client($1, $2)
