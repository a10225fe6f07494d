// Explains one amount: rule, base, calculation, sources, and its days in two months.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { DaysChart } from "./days-chart.tsx";
import { ExplainedLine } from "./explained-line.tsx";
import type { InvoicePath } from "./invoice-page.tsx";

const EXPLANATION = "/m/core/invoices/{month}/{company_id}/{vendor}/explanation";

interface LineDialogProps {
  title: string;
  path: InvoicePath;
  line: string | null;
  monthBefore?: string;
  lineBefore?: string | null;
  onEnd: () => void;
}

export function LineDialog(props: LineDialogProps) {
  const { t } = useLingui();
  const { path, line, monthBefore = "", lineBefore = null } = props;
  const now = useApi(
    EXPLANATION,
    { path, query: { line: line ?? undefined } },
    { enabled: line !== null },
  );
  const before = useApi(
    EXPLANATION,
    { path: { ...path, month: monthBefore }, query: { line: lineBefore ?? undefined } },
    { enabled: lineBefore !== null },
  );
  const amount = now.data?.lines[0];
  const earlier = before.data?.lines[0];
  return (
    <Modal
      visible
      size="large"
      header={props.title}
      closeAriaLabel={t`Close`}
      onDismiss={props.onEnd}
      footer={
        <Box float="right">
          <Button onClick={props.onEnd}>
            <Trans>Close</Trans>
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="l">
        <DaysChart
          month={path.month}
          amount={amount}
          monthBefore={monthBefore}
          amountBefore={earlier}
        />
        {line === null ? (
          <Box>
            <Trans>This month's invoice does not have this amount.</Trans>
          </Box>
        ) : (
          <QueryState query={now}>
            {(loaded) =>
              loaded.lines[0] === undefined ? null : (
                <ExplainedLine amount={loaded.lines[0]} currency={loaded.currency} />
              )
            }
          </QueryState>
        )}
      </SpaceBetween>
    </Modal>
  );
}
