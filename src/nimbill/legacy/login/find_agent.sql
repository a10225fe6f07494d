SELECT organisation_id, token_hash, kid FROM find_agent($1)
