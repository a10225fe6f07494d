// What a page shows while its data loads, and when it cannot be read.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import LiveRegion from "@cloudscape-design/components/live-region";
import Skeleton from "@cloudscape-design/components/skeleton";
import { Trans, useLingui } from "@lingui/react/macro";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiError } from "../api/client.ts";
import { useErrorText } from "./error-text.ts";

import "./placeholder.css";

/** Lines that stand for the content until it is read. */
const SKELETON_WIDTHS = ["30%", "100%", "95%", "60%"];

interface QueryStateProps<T> {
  query: UseQueryResult<T, ApiError>;
  children: (data: T) => ReactNode;
}

export function QueryState<T>({ query, children }: QueryStateProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null)
    return <ErrorState error={query.error} retry={() => query.refetch()} busy={query.isFetching} />;
  return (
    <div className="placeholder-lines" aria-busy="true">
      <LiveRegion hidden>
        <Trans>Loading</Trans>
      </LiveRegion>
      {SKELETON_WIDTHS.map((width) => (
        <Skeleton key={width} width={width} />
      ))}
    </div>
  );
}

interface ErrorStateProps {
  error: ApiError;
  retry?: () => void;
  busy?: boolean;
}

export function ErrorState({ error, retry, busy = false }: ErrorStateProps) {
  const { t } = useLingui();
  const text = useErrorText()(error);
  return (
    <Alert
      type="error"
      header={t`This could not be loaded.`}
      action={
        retry && (
          <Button onClick={retry} loading={busy}>
            <Trans>Try again</Trans>
          </Button>
        )
      }
    >
      {text}
      {error.requestId && (
        <Box variant="small" display="block">
          <Trans>Request {error.requestId}</Trans>
        </Box>
      )}
    </Alert>
  );
}
