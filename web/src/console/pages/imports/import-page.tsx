// One import: its state, what was odd, what it adds up to, and what must be decided.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import { formatNumber } from "../../../components/amount-format.ts";
import { formatMonth, formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { AuditLink } from "../../audit-link.tsx";
import { useMay } from "../../me.ts";
import { type ImportRecord, ImportState, isUnfinished, useProgressText } from "./import-state.tsx";
import { Differences, Drift, Proposals, Totals } from "./import-tables.tsx";
import { LateCosts } from "./late-costs.tsx";
import { useOddities } from "./oddities.ts";
import { useParkedReason } from "./parked-reason.ts";
import { useProblemText } from "./problem-text.ts";
import { ReleaseDialog } from "./release-dialog.tsx";

export default function ImportPage() {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { id = "" } = useParams();
  const record = useApi(
    "/m/core/costs/imports/{import_id}",
    { path: { import_id: id } },
    {
      refetchInterval: ({ state }) =>
        state.data !== undefined && isUnfinished(state.data) ? 1_000 : false,
    },
  );
  const month = record.data?.month;
  const vendor = record.data === undefined ? "" : formatVendor(record.data.vendor);
  const title = month
    ? t`Import of ${formatMonth(month, language)} (${vendor})`
    : t`Import ${vendor}`;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          actions={
            <SpaceBetween direction="horizontal" size="m">
              <AuditLink search={id} />
              <RouterLink to="/imports">
                <Trans>All imports</Trans>
              </RouterLink>
            </SpaceBetween>
          }
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <QueryState query={record}>
        {(loaded) => (
          <SpaceBetween size="l">
            <Outcome record={loaded} />
            <Facts record={loaded} />
            <OddFacts record={loaded} />
            {loaded.state === "drift" && loaded.proposals.length > 0 && (
              <LateCosts record={loaded} />
            )}
            {loaded.proposals.length > 0 && <Proposals record={loaded} />}
            {loaded.drift.length > 0 && <Drift record={loaded} />}
            {loaded.differences.length > 0 && <Differences record={loaded} />}
            {loaded.totals.length > 0 && <Totals record={loaded} />}
          </SpaceBetween>
        )}
      </QueryState>
    </ContentLayout>
  );
}

/** What happened if the costs are not simply in use. */
function Outcome({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const progress = useProgressText();
  const { problem, state } = record;
  if (state === "waiting")
    return (
      <Alert type="info">
        <Trans>The import waits for others to finish. It starts by itself.</Trans>
      </Alert>
    );
  if (state === "running")
    return (
      <Alert type="info">
        <ProgressBar
          label={t`The import is running`}
          additionalInfo={progress(record)}
          value={record.percent}
        />
      </Alert>
    );
  if (state === "parked") return <Parked record={record} />;
  if (state === "unchanged")
    return (
      <Alert type="info">
        <Trans>These costs were already imported. Nothing has changed.</Trans>{" "}
        {record.identical_import !== null && (
          <RouterLink to={`/imports/${record.identical_import}`}>
            <Trans>See the import that counts</Trans>
          </RouterLink>
        )}
      </Alert>
    );
  if (state === "drift")
    return (
      <Alert type="warning" header={t`The month is closed, so nothing was changed`}>
        <Trans>
          The vendor now charges other amounts than those that were invoiced. Decide below what
          becomes of the difference, customer by customer.
        </Trans>
      </Alert>
    );
  if (problem !== null) return <Problem record={record} />;
  return null;
}

function Parked({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const may = useMay();
  const parkedReason = useParkedReason();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Alert
        type="warning"
        header={t`This import is on hold`}
        action={
          may("ModifyCost") && (
            <Button onClick={() => setOpen(true)}>
              <Trans>Release</Trans>
            </Button>
          )
        }
      >
        <SpaceBetween size="xs">
          {record.parked_reason !== null && <b>{parkedReason(record.parked_reason)}</b>}
          <Box>
            <Trans>
              The previous costs still count, and the month can be neither invoiced nor closed.
              Import corrected files, or release this import if its costs are right.
            </Trans>
          </Box>
        </SpaceBetween>
      </Alert>
      {open && <ReleaseDialog record={record} onEnd={() => setOpen(false)} />}
    </>
  );
}

function Problem({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const problemText = useProblemText();
  const { problem } = record;
  if (problem === null) return null;
  const place = [
    problem.file && t`File ${problem.file}`,
    problem.line && t`line ${problem.line}`,
    problem.column && t`column ${problem.column}`,
  ].filter(Boolean);
  return (
    <Alert type="error" header={t`Nothing was imported`}>
      <SpaceBetween size="xs">
        <Box>{problemText(problem.code) ?? problem.detail}</Box>
        {place.length > 0 && <Box>{place.join(", ")}</Box>}
        {problemText(problem.code) !== undefined && (
          <Box variant="small" color="text-body-secondary">
            {problem.detail}
          </Box>
        )}
        <Box>
          <Trans>Correct the files and import them again. The existing costs still count.</Trans>
        </Box>
      </SpaceBetween>
    </Alert>
  );
}

function Facts({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const month = record.month;
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        minColumnWidth={180}
        items={[
          { label: t`State`, value: <ImportState record={record} /> },
          {
            label: t`Month`,
            value:
              month === null ? (
                "–"
              ) : (
                <RouterLink to={`/months/${month}/${record.vendor}`}>
                  {formatMonth(month, language)}
                </RouterLink>
              ),
          },
          { label: t`Lines`, value: formatNumber(record.lines, language) },
          {
            label: t`Final or provisional`,
            value:
              record.provisional === null ? "–" : record.provisional ? t`Provisional` : t`Final`,
          },
          { label: t`Started`, value: formatTime(record.create_time, language) },
          { label: t`Last change`, value: formatTime(record.update_time, language) },
          { label: t`Files`, value: record.sources.join(", ") },
          ...(record.release_reason === null
            ? []
            : [{ label: t`Reason of the release`, value: record.release_reason }]),
        ]}
      />
    </Container>
  );
}

function OddFacts({ record }: { record: ImportRecord }) {
  const oddities = useOddities()(record);
  if (isUnfinished(record)) return null;
  return (
    <Container
      header={
        <Header variant="h2">
          <Trans>What was odd</Trans>
        </Header>
      }
    >
      {oddities.length === 0 ? (
        <Box color="text-body-secondary">
          <Trans>Nothing was odd about this import.</Trans>
        </Box>
      ) : (
        <ul className="plain-list">
          {oddities.map(({ text, path }) => (
            <li key={text}>
              {path === undefined ? text : <RouterLink to={path}>{text}</RouterLink>}
            </li>
          ))}
        </ul>
      )}
    </Container>
  );
}
