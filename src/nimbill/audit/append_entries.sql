SELECT append_audit_entry(entry) FROM unnest($1::text[]) AS entry
