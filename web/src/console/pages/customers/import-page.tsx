// Adds customers and their accounts from CSV files: all lines of a file, or none.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { CsvUpload } from "../../../components/csv-upload.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { useMay } from "../../me.ts";

const CUSTOMER_COLUMNS = [
  "billinggroup_id",
  "billinggroup_name",
  "company_name",
  "postal",
  "address",
  "phone",
  "personal",
  "billing_title",
  "remarks",
  "inv_aggregate",
  "language",
];
const ACCOUNT_COLUMNS = ["vendor", "customer_id", "account_id", "name", "billinggroup_id", "note"];

export default function CustomerImportPage() {
  const { t } = useLingui();
  const may = useMay();
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`A file is added as a whole: if one line is wrong, nothing is added.`}
        >
          <Trans>Add from CSV</Trans>
        </Header>
      }
    >
      <PageTitle title={t`Add from CSV`} />
      <SpaceBetween size="l">
        {may("ModifyBillingGroup") && (
          <CsvUpload
            title={t`1. Customers`}
            description={t`One line for each customer. Id, billing group name and company name are required.`}
            path="/m/core/billinggroup/csv"
            file="customers.csv"
            columns={CUSTOMER_COLUMNS}
            example={[
              "BG-9001",
              "青空商事",
              "青空商事株式会社",
              "100-0001",
              "東京都千代田区千代田1-1",
              "03-0000-0001",
              "経理部",
              "クラウド利用料 請求書",
              "",
              "false",
              "ja",
            ]}
            after={{ text: t`See the customers`, path: "/customers" }}
          />
        )}
        {may("ModifyAccount") && (
          <CsvUpload
            title={t`2. Accounts`}
            description={t`One line for each account. The customer is named by its id and must exist already.`}
            path="/m/core/accts/csv"
            file="accounts.csv"
            columns={ACCOUNT_COLUMNS}
            example={["aws", "123456789012", "210987654321", "青空商事 本番", "BG-9001", ""]}
            after={{ text: t`See the accounts`, path: "/accounts" }}
          />
        )}
      </SpaceBetween>
    </ContentLayout>
  );
}
