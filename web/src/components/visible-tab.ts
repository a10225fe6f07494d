// Keeps the chosen tab in sight where the tabs need more width than the page has.
import { type RefObject, useEffect, useRef } from "react";

/** Cloudscape scrolls too, to where the tab was before the strip had its final width. */
const SETTLED_MILLISECONDS = 400;

/** Returns the reference for the element around the tabs. */
export function useVisibleTab(chosen: string): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is to be shown
  useEffect(() => {
    const strip = place.current?.querySelector<HTMLElement>("[role=tablist]");
    if (!strip) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(() => scrollToChosen(strip), SETTLED_MILLISECONDS);
    });
    observer.observe(strip);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [chosen]);
  return place;
}

function scrollToChosen(strip: HTMLElement): void {
  const tab = strip.querySelector("[role=tab][aria-selected=true]");
  if (tab === null) return;
  const { left, right, width } = tab.getBoundingClientRect();
  const visible = strip.getBoundingClientRect();
  if (left >= visible.left && right <= visible.right) return;
  strip.scrollLeft += left + width / 2 - (visible.left + visible.width / 2);
}
