// Adds customers, their accounts and their contacts from CSV files: all lines of a file, or none.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useSearchParams } from "react-router";
import { CsvUpload } from "../../../components/csv-upload.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { useMay } from "../../me.ts";
import { readSendingPath } from "../../sending-path.ts";

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
const CONTACT_COLUMNS = [
  "billinggroup_id",
  "name",
  "email",
  "send_as",
  "language",
  "receives_invoices",
];

export default function CustomerImportPage() {
  const { t } = useLingui();
  const may = useMay();
  const [params] = useSearchParams();
  const onlyContacts = params.get("kind") === "contacts";
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
        {may("ModifyBillingGroup") && !onlyContacts && (
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
        {may("ModifyAccount") && !onlyContacts && (
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
        {may("ModifyBillingGroup") && (
          <ContactUpload title={onlyContacts ? t`Contacts` : t`3. Contacts`} />
        )}
      </SpaceBetween>
    </ContentLayout>
  );
}

function ContactUpload({ title }: { title: string }) {
  const { t } = useLingui();
  const [params] = useSearchParams();
  const back = readSendingPath(params.get("back"));
  return (
    <CsvUpload
      title={title}
      description={t`One line for each person who receives invoices by mail. The customer is named by its id and must exist already; send_as is "to" or "cc".`}
      path="/m/core/billinggroup/contacts/csv"
      file="contacts.csv"
      columns={CONTACT_COLUMNS}
      example={["BG-9001", "経理部 田中", "keiri@aozora.example", "to", "ja", "true"]}
      after={
        back === undefined
          ? { text: t`See the customers`, path: "/customers" }
          : { text: t`Back to sending`, path: back }
      }
    />
  );
}
