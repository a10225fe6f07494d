// What creating invoices again does to those that exist.
import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";

export function useRevisionTexts() {
  const { t } = useLingui();
  return {
    again: (count: number) =>
      t`${plural(count, { one: "# invoice exists already and gets", other: "# invoices exist already and get" })} a new revision under the same number.`,
    sent: (count: number) =>
      t`${plural(count, { one: "# invoice was sent and stays as it is.", other: "# invoices were sent and stay as they are." })}`,
  };
}
