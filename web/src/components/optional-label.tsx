// The label of a field that may stay empty.
import { Trans } from "@lingui/react/macro";

export function OptionalLabel({ label }: { label: string }) {
  return (
    <>
      {label}{" "}
      <i>
        - <Trans>optional</Trans>
      </i>
    </>
  );
}
