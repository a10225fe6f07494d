// The entries that a dialog is about: the first few, and how many more.
import Box from "@cloudscape-design/components/box";
import { Trans } from "@lingui/react/macro";
import { Amount } from "../../../components/amount.tsx";
import type { Entry } from "./entries-page.tsx";

const SHOWN = 5;

export function EntrySummary({ entries }: { entries: readonly Entry[] }) {
  const more = entries.length - SHOWN;
  return (
    <div>
      <ul className="plain-list">
        {entries.slice(0, SHOWN).map((entry) => (
          <li key={entry.id}>
            {entry.billinggroup_name || entry.customer_id}: {entry.description}{" "}
            <Amount value={entry.unblended_cost} currency={entry.currency_code} strong />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <Box color="text-body-secondary">
          <Trans>and {more} more</Trans>
        </Box>
      )}
    </div>
  );
}
