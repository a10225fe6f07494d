// Warns before a form with changes is left.
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect } from "react";
import { useBlocker } from "react-router";
import { ConfirmDialog } from "./confirm-dialog.tsx";

/** Put into a form; `changed` says whether there is something to lose. */
export function UnsavedChanges({ changed }: { changed: boolean }) {
  const { t } = useLingui();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      changed && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    if (!changed) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [changed]);
  if (blocker.state !== "blocked") return null;
  return (
    <ConfirmDialog
      title={t`Leave without saving?`}
      action={t`Leave`}
      busy={false}
      error={null}
      onConfirm={() => blocker.proceed()}
      onCancel={() => blocker.reset()}
    >
      <Trans>Your changes have not been saved and will be lost.</Trans>
    </ConfirmDialog>
  );
}
