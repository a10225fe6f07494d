// One month of one vendor: the steps from arrival to closing, what blocks each, and one action.

import Alert from "@cloudscape-design/components/alert";
import Badge from "@cloudscape-design/components/badge";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate, useParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { formatMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { Redirect } from "../../../components/redirect.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { AuditLink } from "../../audit-link.tsx";
import { MonthVendorChoice } from "../../month-vendor-choice.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { MonthSteps } from "./month-steps.tsx";
import { chooseMonth } from "./opened-month.ts";
import { RunProgress } from "./run-progress.tsx";

export type MonthStatus = components["schemas"]["MonthStatus"];

export default function MonthPage() {
  const { month, vendor } = useParams();
  if (month === undefined || vendor === undefined) return <NextMonth />;
  return <OneMonth month={month} vendor={vendor} />;
}

/** Opens the month that is to be closed next. */
function NextMonth() {
  const { t } = useLingui();
  const months = useApi("/m/core/months", { query: { steps: false } });
  return (
    <>
      <PageTitle title={t`Months`} />
      <QueryState query={months}>
        {(listed) => {
          const chosen = chooseMonth(listed);
          if (chosen === undefined) return <FirstSteps />;
          return <Redirect to={`/months/${chosen.month}/${chosen.vendor}`} />;
        }}
      </QueryState>
    </>
  );
}

function OneMonth({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { language } = useLanguage();
  const status = useApi(
    "/m/core/months/{month}",
    { path: { month }, query: { vendor } },
    { refetchInterval: 10_000 },
  );
  const title = `${formatMonth(month, language)} ${formatVendor(vendor)}`;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`The steps of a month, from the vendor's files to closing.`}
          actions={
            <MonthVendorChoice
              month={month}
              vendor={vendor}
              onChange={(chosenMonth, chosenVendor) =>
                navigate(`/months/${chosenMonth}/${chosenVendor}`)
              }
            />
          }
        >
          {title} {status.data !== undefined && <StateBadge status={status.data} />}
        </Header>
      }
    >
      <PageTitle title={title} />
      <QueryState query={status}>
        {(loaded) => (
          <SpaceBetween size="l">
            <RunProgress month={month} vendor={vendor} />
            {loaded.provisional && (
              <Alert type="info">
                <Trans>
                  The vendor has not finished this month yet. Its costs are provisional and may
                  still change.
                </Trans>
              </Alert>
            )}
            <Container
              header={
                <Header
                  variant="h2"
                  actions={
                    <SpaceBetween direction="horizontal" size="m">
                      <RouterLink to={`/invoices/${month}?vendor=${vendor}`}>
                        <Trans>Invoices of this month</Trans>
                      </RouterLink>
                      <AuditLink search={month} />
                    </SpaceBetween>
                  }
                >
                  <Trans>Steps</Trans>
                </Header>
              }
            >
              <MonthSteps status={loaded} />
            </Container>
          </SpaceBetween>
        )}
      </QueryState>
    </ContentLayout>
  );
}

function StateBadge({ status }: { status: MonthStatus }) {
  const { t } = useLingui();
  const texts = { open: t`open`, parked: t`on hold`, closed: t`closed` };
  const colours = { open: "blue", parked: "red", closed: "grey" } as const;
  return <Badge color={colours[status.state]}>{texts[status.state]}</Badge>;
}
