// The vendor's words for reservations, as people say them.
import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";

export function useOfferClasses(): Record<string, string> {
  const { t } = useLingui();
  return { standard: t`Standard`, convertible: t`Convertible` };
}

export function usePaymentOptions(): Record<string, string> {
  const { t } = useLingui();
  return {
    "No Upfront": t`No upfront`,
    "Partial Upfront": t`Partial upfront`,
    "All Upfront": t`All upfront`,
  };
}

/** The vendor writes 1yr and 3yr, or P1Y and P3Y. */
export function useTerms(): (term: string) => string {
  const { t } = useLingui();
  return (term) => {
    const years = /^(?:P(\d+)Y|(\d+) ?yrs?)$/i.exec(term);
    if (years === null) return term;
    const count = Number(years[1] ?? years[2]);
    return t`${plural(count, { one: "# year", other: "# years" })}`;
  };
}

export function formatDays(start: string, end: string, language: string): string {
  const options = { dateStyle: "medium", timeZone: "UTC" } as const;
  const format = new Intl.DateTimeFormat(language, options);
  const show = (time: string) => (time === "" ? "–" : format.format(new Date(time)));
  return `${show(start)} – ${show(end)}`;
}
