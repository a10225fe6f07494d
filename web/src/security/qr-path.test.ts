import assert from "node:assert/strict";
import { test } from "node:test";
import decoder from "jsqr";
import { buildQrPath } from "./qr-path.ts";

// Node imports the package as a whole; its types describe what a bundler imports.
const { default: jsQR } = decoder as unknown as { default: typeof decoder };
const SCALE = 4;
const RUN = /M(\d+) (\d+)h(\d+)v1h-\d+z/g;

/** Draws the path on a white square and reads it with a decoder of another author. */
function decode(text: string): string | undefined {
  const { size, path } = buildQrPath(text);
  const width = size * SCALE;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y, length] of path.matchAll(RUN))
    for (let row = Number(y) * SCALE; row < (Number(y) + 1) * SCALE; row++)
      for (let column = Number(x) * SCALE; column < (Number(x) + Number(length)) * SCALE; column++)
        pixels.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
  return jsQR(pixels, width, width)?.data;
}

test("a reader finds the text that was encoded", () => {
  for (const text of [
    "otpauth://totp/Nimbill:root?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Nimbill",
    `otpauth://totp/${encodeURIComponent("株式会社あおぞら:hanako@example.com")}?secret=JBSWY3DPEHPK3PXP`,
    "A",
  ])
    assert.equal(decode(text), text);
});

test("the quiet zone is empty", () => {
  const { size, path } = buildQrPath("otpauth://totp/a");
  for (const [, x, y, length] of path.matchAll(RUN)) {
    assert.ok(Number(x) >= 4 && Number(x) + Number(length) <= size - 4);
    assert.ok(Number(y) >= 4 && Number(y) < size - 4);
  }
});
