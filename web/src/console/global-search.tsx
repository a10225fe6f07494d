// Finds customers, accounts and invoices from every page.
import Autosuggest from "@cloudscape-design/components/autosuggest";
import { useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { useApi } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { formatMonth } from "../components/month.ts";
import { formatVendor } from "../components/vendor.ts";
import { useLanguage } from "../language/language.tsx";

type Found = components["schemas"]["SearchResult"];
const LENGTH_MIN = 2;
const DELAY_MS = 250;

export function GlobalSearch() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const wanted = useDelayed(text.trim());
  const isAsked = wanted.length >= LENGTH_MIN;
  const found = useApi("/m/core/search", { query: { q: wanted } }, { enabled: isAsked });
  const groups = useHits(isAsked ? found.data : undefined);
  const isWaiting = found.isFetching || wanted !== text.trim();
  const open = (path: string) => {
    setText("");
    navigate(path);
  };
  return (
    <Autosuggest
      value={text}
      ariaLabel={t`Find customers, accounts and invoices`}
      placeholder={t`Customer, account or invoice number`}
      enteredTextLabel={(value) => t`Search for ${value}`}
      options={groups}
      filteringType="manual"
      hideEnteredTextOption
      statusType={found.isError ? "error" : isAsked && isWaiting ? "loading" : "finished"}
      loadingText={t`Searching`}
      errorText={t`The search failed.`}
      recoveryText={t`Try again`}
      clearAriaLabel={t`Clear`}
      empty={isAsked ? t`Nothing found` : t`Type at least two characters.`}
      onLoadItems={() => found.isError && found.refetch()}
      onChange={({ detail }) => {
        // Choosing a hit also reports its value, which is an address and not a text.
        if (!detail.value.startsWith("/")) setText(detail.value);
      }}
      onSelect={({ detail }) => open(detail.value)}
    />
  );
}

/** The hits by kind; the value of each is the address of its page. */
function useHits(found: Found | undefined) {
  const { t } = useLingui();
  const { language } = useLanguage();
  if (found === undefined) return [];
  const groups = [
    {
      label: t`Customers`,
      options: found.billing_groups.map((group) => ({
        value: `/customers/${group.company_id}`,
        label: group.billinggroup_name,
        description: `${group.billinggroup_id} ${group.name}`,
      })),
    },
    {
      label: t`Accounts`,
      options: found.accounts.map((account) => ({
        value: `/accounts?vendor=${account.vendor}&search=${encodeURIComponent(account.customer_id)}`,
        label: account.customer_name || account.customer_id,
        description: `${formatVendor(account.vendor)} ${account.customer_id} ${account.billinggroup_name}`,
      })),
    },
    {
      label: t`Invoices`,
      options: found.invoices.map((invoice) => ({
        value: `/invoices/${invoice.month}/${invoice.company_id}/${invoice.vendor}`,
        label: invoice.invoice_no,
        description: `${formatMonth(invoice.month, language)} ${formatVendor(invoice.vendor)} ${invoice.billinggroup_name}`,
      })),
    },
  ];
  return groups.filter((group) => group.options.length > 0);
}

/** The text after a short pause, so that not every letter asks the service. */
function useDelayed(text: string): string {
  const [delayed, setDelayed] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return delayed;
}
