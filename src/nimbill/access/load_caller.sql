SELECT username, kind, root_user, credential_epoch, permissions, billing_groups, company_id, meta
FROM load_caller($1, $2, $3, $4, $5, $6)
