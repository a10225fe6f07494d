-- Appends an entry to the organisation's hash chain and returns its number. This is the last
-- statement before the commit: the head row stays locked until then, and a longer lock would block
-- other requests.
CREATE FUNCTION append_audit_entry(new_entry text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    organisation text := current_setting('nimbill.organisation');
    head audit_heads;
BEGIN
    LOOP
        UPDATE audit_heads SET
            seq = seq + 1,
            hash = sha256(hash || int8send(seq + 1) || convert_to(new_entry, 'UTF8'))
        WHERE organisation_id = organisation RETURNING * INTO head;
        EXIT WHEN FOUND;
        INSERT INTO audit_heads VALUES (organisation, 0, sha256(convert_to(organisation, 'UTF8')))
            ON CONFLICT DO NOTHING;
    END LOOP;
    INSERT INTO audit_log (organisation_id, seq, entry, hash)
        VALUES (organisation, head.seq, new_entry, head.hash);
    RETURN head.seq;
END $$;
