// Spreads the width that columns leave over; Cloudscape would give all of it to the last one.
import { useCallback, useState } from "react";

const SELECTION = 54; // the column of checkboxes
const PADDINGS = 40; // of a container, at both sides
const SCROLLBAR = 20; // of the page, which appears with the rows

interface WidthsOptions {
  widths: readonly number[];
  selectable: boolean;
  embedded: boolean;
}

/** How much wider columns can be than they ask for; undefined until the place was measured. */
export function useColumnStretch(options: WidthsOptions): {
  place: (element: HTMLDivElement | null) => void;
  stretch: number | undefined;
} {
  const [stretch, setStretch] = useState<number>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a table reads its widths only once
  const place = useCallback((element: HTMLDivElement | null) => {
    if (element !== null) setStretch(computeStretch(element.clientWidth, options));
  }, []);
  return { place, stretch };
}

/** Columns never become narrower than they ask for; a table that is too wide scrolls. */
export function computeStretch(
  available: number,
  { widths, selectable, embedded }: WidthsOptions,
): number {
  const taken = SCROLLBAR + (selectable ? SELECTION : 0) + (embedded ? PADDINGS : 0);
  const wanted = widths.reduce((sum, width) => sum + width, 0);
  return wanted === 0 ? 1 : Math.max(1, (available - taken) / wanted);
}
