// Shown when a page fails; the rest keeps working.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect } from "react";
import { useRouteError } from "react-router";

export function PageFailure() {
  const { t } = useLingui();
  const error = useRouteError();
  useEffect(() => console.error(error), [error]);
  return (
    <Alert
      type="error"
      header={t`This page failed.`}
      action={
        <Button onClick={() => location.reload()}>
          <Trans>Reload</Trans>
        </Button>
      }
    >
      <Trans>Reload the page. If it fails again, tell an administrator what you did.</Trans>
    </Alert>
  );
}
