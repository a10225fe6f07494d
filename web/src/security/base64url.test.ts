import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBytes, encodeBytes } from "./base64url.ts";

test("bytes are encoded without padding and without characters of addresses", () => {
  assert.equal(encodeBytes(new Uint8Array([251, 255, 190, 1]).buffer), "-_--AQ");
});

test("decoding returns the bytes that were encoded", () => {
  for (const text of ["", "AA", "-_--AQ", "c29tZSB0ZXh0"])
    assert.equal(encodeBytes(decodeBytes(text).buffer), text);
});
