// Saves a file of the service under the name that the service gives it.
import { useMutation } from "@tanstack/react-query";
import type { ApiError, RequestOptions } from "../api/client.ts";
import { useClient } from "../api/queries.ts";
import { saveFile } from "./csv.ts";
import { useNotifications } from "./notifications.tsx";

export interface FileRequest extends RequestOptions {
  address: string;
  /** Used if the service gives no name. */
  name: string;
}

export function useDownload() {
  const client = useClient();
  const { notifyError } = useNotifications();
  return useMutation<void, ApiError, FileRequest>({
    mutationFn: async ({ address, name, ...options }) => {
      const response = await client.download("GET", address, options);
      const given = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "");
      const type = response.headers.get("content-type") ?? "";
      saveFile(await response.blob(), given?.[1] ?? name, type);
    },
    onError: notifyError,
  });
}
