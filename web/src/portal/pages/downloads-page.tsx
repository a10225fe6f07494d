// Files of a month: the usage report, and the invoices in the FOCUS format.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useDownload } from "../../components/download.ts";
import { useListState } from "../../components/list-state.ts";
import { currentMonth, shiftMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { useLanguage } from "../../language/language.tsx";
import { useMe } from "../me.ts";
import { MonthSelect } from "../month-select.tsx";

export default function DownloadsPage() {
  const { t } = useLingui();
  const control = useListState();
  const { language } = useLanguage();
  const month = control.filter("month") || shiftMonth(currentMonth(), -1);
  const filtered = useMe().data?.filtered ?? true;
  const report = useDownload();
  const focus = useDownload();
  return (
    <ContentLayout header={<Header variant="h1">{t`Downloads`}</Header>}>
      <PageTitle title={t`Downloads`} />
      <SpaceBetween size="l">
        <MonthSelect month={month} onChange={(chosen) => control.setFilter("month", chosen)} />
        <Container header={<Header variant="h2">{t`Usage report`}</Header>}>
          <SpaceBetween size="s">
            <Box>
              <Trans>Usage by account and service as CSV, with unrounded amounts.</Trans>
            </Box>
            <Button
              iconName="download"
              loading={report.isPending}
              onClick={() =>
                report.mutate({
                  address: "/m/portal/usage/report",
                  name: `usage-${month}.csv`,
                  query: { month, language },
                })
              }
            >
              <Trans>Download the usage report</Trans>
            </Button>
          </SpaceBetween>
        </Container>
        {!filtered && (
          <Container header={<Header variant="h2">FOCUS 1.2</Header>}>
            <SpaceBetween size="s">
              <Box>
                <Trans>
                  The invoices of the month in the open format that FinOps tools read. A month
                  without invoice has no such file.
                </Trans>
              </Box>
              <Button
                iconName="download"
                loading={focus.isPending}
                onClick={() =>
                  focus.mutate({
                    address: "/m/portal/usage/focus",
                    name: `focus-${month}.csv`,
                    query: { month },
                  })
                }
              >
                <Trans>Download the FOCUS file</Trans>
              </Button>
            </SpaceBetween>
          </Container>
        )}
      </SpaceBetween>
    </ContentLayout>
  );
}
