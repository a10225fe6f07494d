import assert from "node:assert/strict";
import { test } from "node:test";
import { nameBrowser } from "./browser-name.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

test("browsers are named with their system", () => {
  const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)";
  assert.equal(nameBrowser(`${windows} ${WEBKIT} Chrome/140.0 Safari/537.36`), "Chrome (Windows)");
  assert.equal(
    nameBrowser(`${windows} ${WEBKIT} Chrome/140.0 Safari/537.36 Edg/140.0`),
    "Edge (Windows)",
  );
  assert.equal(
    nameBrowser("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"),
    "Safari (iPhone)",
  );
  assert.equal(nameBrowser("Mozilla/5.0 (X11; Linux) Firefox/140.0"), "Firefox (Linux)");
});

test("other programs are shown as they call themselves", () => {
  assert.equal(nameBrowser("curl/8.5"), "curl/8.5");
});
