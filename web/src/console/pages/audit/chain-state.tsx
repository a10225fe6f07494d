// Whether the chain of the audit log is unbroken: nobody has altered it.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { formatTime } from "../../../components/month.ts";
import { useLanguage } from "../../../language/language.tsx";

export function ChainState() {
  return (
    <SpaceBetween size="xxs">
      <Trans>
        Every change is recorded. Each entry seals the one before it, so that nobody can alter the
        log unnoticed.
      </Trans>
      <Verification />
    </SpaceBetween>
  );
}

/** The service verifies the whole log, so it is asked once and then on demand. */
function Verification() {
  const { t } = useLingui();
  const { language } = useLanguage();
  const verification = useApi("/m/core/audit/verification", {}, { staleTime: Infinity });
  const { data } = verification;
  if (verification.isFetching)
    return <StatusIndicator type="loading">{t`The log is being verified.`}</StatusIndicator>;
  if (data === undefined)
    return <StatusIndicator type="warning">{t`The log could not be verified.`}</StatusIndicator>;
  const time = formatTime(data.verified_at, language);
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="center">
      {data.intact ? (
        <StatusIndicator type="success">
          {t`Unaltered: ${data.rows} entries verified on ${time}`}
        </StatusIndicator>
      ) : (
        <StatusIndicator type="error">
          {t`Altered: the chain is broken at entry ${data.first_bad_row}. Inform your auditor.`}
        </StatusIndicator>
      )}
      <Button variant="inline-link" onClick={() => verification.refetch()}>
        <Trans>Verify again</Trans>
      </Button>
    </SpaceBetween>
  );
}
