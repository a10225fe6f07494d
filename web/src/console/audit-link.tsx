// Leads from a page to the changes of what it shows, for those who may read the audit log.
import { Trans } from "@lingui/react/macro";
import { RouterLink } from "../components/router-link.tsx";
import { useMay } from "./me.ts";

interface AuditLinkProps {
  company?: string;
  action?: string;
  search?: string;
}

export function AuditLink(filters: AuditLinkProps) {
  if (!useMay()("ReadAudit")) return null;
  return (
    <RouterLink to={`/audit?${new URLSearchParams({ ...filters })}`}>
      <Trans>Change history</Trans>
    </RouterLink>
  );
}
