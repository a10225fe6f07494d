// The outline of a QR code: one path for all dark squares.
import { encode } from "uqr";

export interface QrPath {
  /** Squares on each side, with the quiet zone of four that readers need. */
  size: number;
  path: string;
}

const QUIET_ZONE = 4;

export function buildQrPath(text: string): QrPath {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const runs = data.flatMap((row, y) =>
    [
      ...row
        .map((dark) => (dark ? "1" : "0"))
        .join("")
        .matchAll(/1+/g),
    ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  );
  return { size, path: runs.join("") };
}
