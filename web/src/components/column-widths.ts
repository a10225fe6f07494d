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

/** Smaller changes of the width are those of a scrollbar. */
const NOTICED = 24;
const SETTLED_MILLISECONDS = 150;

/**
 * How much wider columns can be than they ask for; undefined until the place was measured.
 *
 * A table reads its widths only once, so it needs `version` as its key: another width of the page
 * or other columns make another table.
 */
export function useColumnStretch(options: WidthsOptions): {
  place: (element: HTMLDivElement | null) => (() => void) | undefined;
  stretch: number | undefined;
  version: string;
} {
  const [available, setAvailable] = useState<number>();
  const place = useCallback((element: HTMLDivElement | null) => {
    if (element === null) return;
    const measure = () => {
      const width = element.clientWidth;
      setAvailable((last) =>
        last !== undefined && Math.abs(last - width) < NOTICED ? last : width,
      );
    };
    measure();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(measure, SETTLED_MILLISECONDS);
    });
    observer.observe(element);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, []);
  const stretch = available === undefined ? undefined : computeStretch(available, options);
  return { place, stretch, version: `${available} ${options.widths.join(" ")}` };
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
