// Saves the terms of a customer, and uses them for open months too.
import { Trans } from "@lingui/react/macro";
import { type ApiClient, ApiError } from "../../../api/client.ts";
import { useChange } from "../../../api/queries.ts";
import { formatMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import type { BillingGroup } from "../customer/customer-page.tsx";
import { type OpenMonths, type SavedMonth, useMonthNames } from "./open-months.tsx";
import { type TermsForm, writeTerms } from "./terms-model.ts";

interface TermsToSave {
  group: BillingGroup;
  vendor: string;
  form: TermsForm;
  open: OpenMonths;
}

interface SavedTerms {
  /** The months that have the terms now, and those that keep others. */
  used: SavedMonth[];
  kept: SavedMonth[];
}

export function useSaveTerms({ group, vendor, form, open }: TermsToSave) {
  const { notify } = useNotifications();
  return useChange(
    async (client, version: string | undefined): Promise<SavedTerms> => {
      await client.post("/m/core/billinggroup/{company_id}/invoices", {
        path: { company_id: group.company_id },
        body: { vendor, ...writeTerms(form) },
        ifMatch: version,
      });
      return applyToMonths(client, group.company_id, vendor, open);
    },
    {
      onSuccess: (saved) => {
        const content = <SavedMessage group={group} vendor={vendor} saved={saved} />;
        notify({ type: saved.kept.length > 0 ? "warning" : "success", content });
      },
    },
  );
}

/** A month that was closed in the meantime keeps its terms. */
async function applyToMonths(
  client: ApiClient,
  company: string,
  vendor: string,
  { months, use }: OpenMonths,
): Promise<SavedTerms> {
  const used: SavedMonth[] = [];
  const kept: SavedMonth[] = use ? [] : [...months];
  for (const each of use ? months : []) {
    try {
      await client.put("/m/core/invoices/save/{month}/{company_id}/{vendor}", {
        path: { month: each.month, company_id: company, vendor },
      });
      used.push(each);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      kept.push(each);
    }
  }
  return { used, kept };
}

interface SavedMessageProps {
  group: BillingGroup;
  vendor: string;
  saved: SavedTerms;
}

function SavedMessage({ group, vendor, saved: { used, kept } }: SavedMessageProps) {
  const { language } = useLanguage();
  const names = useMonthNames();
  const invoiced = used.filter((each) => each.invoiced);
  return (
    <>
      <Trans>
        The terms of{" "}
        <RouterLink to={`/customers/${group.company_id}`} color="inverted">
          {group.name}
        </RouterLink>{" "}
        were saved.
      </Trans>{" "}
      {used.length > 0 && <Trans>They are used for {names(used)} and the months to come.</Trans>}{" "}
      {invoiced.length > 0 && (
        <>
          <Trans>Create the invoices of these months again:</Trans>{" "}
          {invoiced.map(({ month }) => (
            <span key={month}>
              <RouterLink to={`/months/${month}/${vendor}`} color="inverted">
                {formatMonth(month, language)}
              </RouterLink>{" "}
            </span>
          ))}
        </>
      )}
      {kept.length > 0 && <Trans>{names(kept)} keep the terms saved for them.</Trans>}
    </>
  );
}
