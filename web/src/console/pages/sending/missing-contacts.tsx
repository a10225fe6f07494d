// Says how many customers have nobody who receives invoices, and leads to adding contacts from a file.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import { Plural, Trans } from "@lingui/react/macro";
import { RouterLink } from "../../../components/router-link.tsx";
import { useMay } from "../../me.ts";
import { addSendingPath } from "../../sending-path.ts";
import type { PreviewedMail } from "./delivery-texts.ts";

interface MissingContactsProps {
  mails: readonly PreviewedMail[];
  month: string;
  vendor: string;
}

export function MissingContacts({ mails, month, vendor }: MissingContactsProps) {
  const mayAdd = useMay()("ModifyBillingGroup");
  const missing = mails.filter(({ problems }) => problems.includes("no_contact")).length;
  if (!mayAdd || missing === 0) return null;
  return (
    <Box margin={{ bottom: "l" }}>
      <Alert type="info">
        <Plural
          value={missing}
          one="# customer has no contact that receives invoices."
          other="# customers have no contact that receives invoices."
        />{" "}
        <RouterLink to={addSendingPath("/customers/import?kind=contacts", month, vendor)}>
          <Trans>Add contacts by CSV</Trans>
        </RouterLink>
      </Alert>
    </Box>
  );
}
