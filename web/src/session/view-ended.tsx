// Shown when the view of a member of staff has ended.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { SignInFrame } from "./sign-in-frame.tsx";

export function ViewEnded() {
  const { t } = useLingui();
  return (
    <SignInFrame product="portal">
      <Alert
        type="info"
        header={t`The view of the portal has ended.`}
        action={
          <Button href="/console">
            <Trans>To the reseller console</Trans>
          </Button>
        }
      >
        <Trans>Close this tab. A new view begins on the page of the customer.</Trans>
      </Alert>
    </SignInFrame>
  );
}
