// Records payments from a CSV file: all of its lines, or none.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { CsvUpload } from "../../../components/csv-upload.tsx";
import { currentDay } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { useMay } from "../../me.ts";

export default function PaymentImportPage() {
  const { t } = useLingui();
  const mayRecord = useMay()("ModifyInvoice");
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`A file is recorded as a whole: if one line is wrong, nothing is recorded.`}
        >
          <Trans>Record payments from CSV</Trans>
        </Header>
      }
    >
      <PageTitle title={t`Record payments from CSV`} />
      {mayRecord && (
        <CsvUpload
          title={t`Payments`}
          description={t`One line for each payment. Invoice number, amount and date of payment are required. A payment that is recorded already is refused unless the column "again" says "yes".`}
          path="/m/core/payments/csv"
          file="payments.csv"
          columns={["invoice_no", "amount", "paid_on", "note", "again"]}
          example={["202609-0001", "110000", currentDay(), t`Bank transfer`, ""]}
          after={{ text: t`See the receivables`, path: "/receivables" }}
        />
      )}
    </ContentLayout>
  );
}
