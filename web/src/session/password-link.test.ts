import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePasswordLink } from "./password-link.ts";

test("a link has an organisation and a token", () => {
  assert.deepEqual(
    parsePasswordLink("/console/choose-password", "#organisation=org_a&token=x-_1"),
    { organisation: "org_a", token: "x-_1" },
  );
});

test("missing parts are empty", () => {
  const empty = { organisation: "", token: "" };
  assert.deepEqual(parsePasswordLink("/portal/choose-password/", ""), empty);
});

test("other pages have no link", () => {
  assert.equal(parsePasswordLink("/console/people", "#organisation=a&token=b"), undefined);
});
