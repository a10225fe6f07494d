// An account by its name and number, with a link to its customer.
import Box from "@cloudscape-design/components/box";
import { useApi } from "../api/queries.ts";
import { RouterLink } from "../components/router-link.tsx";
import { useMay } from "./me.ts";

/** The registered account with this number, if there is one that the person may see. */
export function useAccount(vendor: string, customerId: string) {
  const may = useMay();
  const found = useApi(
    "/m/core/accts",
    { query: { vendor, search: customerId, limit: 20 } },
    { enabled: customerId !== "" && may("ReadAccount", "ModifyAccount"), staleTime: 60_000 },
  );
  return found.data?.find((account) => account.customer_id === customerId);
}

/** Looks the name up; shows the number alone for an account that is not registered. */
export function AccountName({ vendor, customerId }: { vendor: string; customerId: string }) {
  const account = useAccount(vendor, customerId);
  return (
    <AccountText
      name={account?.customer_name ?? ""}
      customerId={customerId}
      companyId={account?.company_id ?? ""}
    />
  );
}

interface AccountTextProps {
  name: string;
  customerId: string;
  companyId: string;
}

export function AccountText({ name, customerId, companyId }: AccountTextProps) {
  if (name === "") return <>{customerId}</>;
  return (
    <>
      {companyId === "" ? (
        name
      ) : (
        <RouterLink to={`/customers/${encodeURIComponent(companyId)}`}>{name}</RouterLink>
      )}
      <Box variant="small" color="text-body-secondary" display="block">
        {customerId}
      </Box>
    </>
  );
}
