// Says that a member of staff sees the portal of a customer, and for how long.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import type { components } from "../api/schema.ts";
import { useSession } from "../session/session.tsx";

interface ViewBannerProps {
  view: components["schemas"]["View"];
  company: string;
}

export function ViewBanner({ view, company }: ViewBannerProps) {
  const { t } = useLingui();
  const { signOut } = useSession();
  const minutes = Math.ceil(useRemainingSeconds(view.expire_time) / 60);
  const { viewer } = view;
  return (
    <section aria-label={t`End view`}>
      <Alert
        type="warning"
        header={t`You see the portal as ${company} sees it. You cannot change anything.`}
        action={
          <Button onClick={() => signOut()}>
            <Trans>End view</Trans>
          </Button>
        }
      >
        <Trans>
          Viewed by {viewer}. The view ends in{" "}
          <Plural value={minutes} one="# minute" other="# minutes" />.
        </Trans>
      </Alert>
    </section>
  );
}

/** The seconds until the view ends; then the tab leaves it. */
function useRemainingSeconds(expireTime: string): number {
  const { leave } = useSession();
  const [now, setNow] = useState(Date.now);
  const remaining = Math.max(0, (Date.parse(expireTime) - now) / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (remaining === 0) leave();
  }, [remaining, leave]);
  return remaining;
}
