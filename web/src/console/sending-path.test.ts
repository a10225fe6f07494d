import assert from "node:assert/strict";
import { test } from "node:test";
import { addSendingPath, readSendingPath } from "./sending-path.ts";

test("the way back to a sending page is read as it was added", () => {
  const address = addSendingPath("/customers/import?kind=contacts", "2026-10", "aws");
  const back = new URL(address, "https://console.invalid").searchParams.get("back");
  assert.equal(readSendingPath(back), "/sending/2026-10/aws");
});

test("addresses of other pages and servers are ignored", () => {
  for (const back of [
    null,
    "",
    "/customers",
    "/sending/",
    "/sending/2026-10/aws/..",
    "/sending/../settings",
    "//sending/2026-10/aws",
    "https://elsewhere.invalid/sending/2026-10/aws",
    "javascript:alert(1)",
  ])
    assert.equal(readSendingPath(back), undefined);
});
