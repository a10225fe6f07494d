// Shown when the service does not answer at the start.
import Box from "@cloudscape-design/components/box";
import type { ApiError } from "../api/client.ts";
import { ErrorState } from "../components/query-state.tsx";

export function Unreachable({ error, retry }: { error: ApiError; retry: () => void }) {
  return (
    <Box padding="xxl">
      <ErrorState error={error} retry={retry} />
    </Box>
  );
}
