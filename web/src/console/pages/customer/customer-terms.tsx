// The terms of a customer in words, for each vendor.

import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { formatVendor } from "../../../components/vendor.ts";
import { useMay, useMe } from "../../me.ts";
import { useTermSentences } from "../terms/term-sentences.ts";
import { readTerms } from "../terms/terms-model.ts";
import type { BillingGroup } from "./customer-page.tsx";

export function CustomerTerms({ group }: { group: BillingGroup }) {
  const vendors = useMe().data?.vendors ?? [];
  const shown = [...new Set([...vendors, ...Object.keys(group.invoices)])];
  return (
    <ColumnLayout columns={shown.length > 1 ? 2 : 1}>
      {shown.map((vendor) => (
        <VendorTerms key={vendor} group={group} vendor={vendor} />
      ))}
    </ColumnLayout>
  );
}

function VendorTerms({ group, vendor }: { group: BillingGroup; vendor: string }) {
  const { t } = useLingui();
  const may = useMay();
  const navigate = useNavigate();
  const say = useTermSentences();
  const setting = group.invoices[vendor];
  const sentences = setting && say(readTerms(setting, group.support_fee_targets[vendor], "either"));
  return (
    <Container
      fitHeight
      header={
        <Header
          variant="h2"
          actions={
            may("ModifyBillingGroup") && (
              <Button
                variant={setting === undefined ? "normal" : "primary"}
                onClick={() => navigate(`/customers/${group.company_id}/terms/${vendor}`)}
              >
                {setting === undefined ? <Trans>Set terms</Trans> : <Trans>Change the terms</Trans>}
              </Button>
            )
          }
        >
          {t`Terms for ${formatVendor(vendor)}`}
        </Header>
      }
    >
      {sentences === undefined ? (
        <Box color="text-body-secondary">
          <Trans>There are no terms, so this vendor's costs are not invoiced.</Trans>
        </Box>
      ) : (
        <ul className="term-sentences">
          {[
            sentences.discount,
            sentences.support,
            sentences.agency,
            sentences.tax,
            sentences.lines,
          ].map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
    </Container>
  );
}
