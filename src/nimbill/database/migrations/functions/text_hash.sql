-- Hash of a text, for unique constraints on texts of any length: an index row holds at most 2,700
-- bytes. It is stored in a generated column instead of an index expression because PostgreSQL does
-- not use an index behind row-level security if its function is not marked leakproof.
CREATE FUNCTION text_hash(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT sha256(convert_to(value, 'UTF8')) $$;
