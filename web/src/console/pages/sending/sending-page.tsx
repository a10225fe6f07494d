// Sends the invoices of a month: what would be mailed to whom, and what became of each mail.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useParams, useSearchParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import { formatMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { DeliveriesTable } from "./deliveries-table.tsx";
import { type Delivery, useDeliveryTexts } from "./delivery-texts.ts";
import { SendInvoices } from "./send-invoices.tsx";

export default function SendingPage() {
  const { month = "", vendor = "" } = useParams();
  const { t } = useLingui();
  const { language } = useLanguage();
  const mayChange = useMay()("ModifyInvoice");
  const title = t`Send the invoices of ${formatMonth(month, language)} (${formatVendor(vendor)})`;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`Each customer receives one mail. A sent invoice does not change any more.`}
          actions={
            <RouterLink to={`/months/${month}/${vendor}`}>
              <Trans>Steps of the month</Trans>
            </RouterLink>
          }
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <SpaceBetween size="l">
        {mayChange && <SendInvoices key={`${month}${vendor}`} month={month} vendor={vendor} />}
        <MonthDeliveries month={month} vendor={vendor} />
      </SpaceBetween>
    </ContentLayout>
  );
}

function MonthDeliveries({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const { states } = useDeliveryTexts();
  const [params, setParams] = useSearchParams();
  const state = params.get("state") ?? "";
  const query = state === "" ? { vendor } : { vendor, state };
  const deliveries = useApi(
    "/m/core/invoices/{month}/deliveries",
    { path: { month }, query },
    { refetchInterval: 5_000 },
  );
  const options = [
    { value: "", label: t`All states` },
    ...(Object.keys(states) as Delivery["state"][]).map((value) => ({
      value: value as string,
      label: states[value],
    })),
  ];
  return (
    <QueryState query={deliveries}>
      {(loaded) => (
        <DeliveriesTable
          deliveries={loaded}
          header={
            <Header
              variant="h2"
              counter={`(${loaded.length})`}
              actions={
                <Select
                  ariaLabel={t`State`}
                  options={options}
                  selectedOption={options.find(({ value }) => value === state) ?? null}
                  onChange={({ detail }) => {
                    const chosen = detail.selectedOption.value ?? "";
                    setParams(chosen === "" ? {} : { state: chosen }, { replace: true });
                  }}
                />
              }
            >
              <Trans>Mails</Trans>
            </Header>
          }
        />
      )}
    </QueryState>
  );
}
