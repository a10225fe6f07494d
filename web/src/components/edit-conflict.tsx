// Opens when a save was refused because somebody else saved first.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { ApiError } from "../api/client.ts";
import { ConflictDialog } from "./conflict-dialog.tsx";
import type { Editing } from "./editing.ts";

interface EditConflictProps<F> {
  error: ApiError | null;
  editing: Editing<F>;
  /** The label and the text of each field. */
  describe: (form: F) => [string, string][];
  save: (version: string | undefined) => void;
  onEnd: () => void;
}

export function EditConflict<F>({ error, editing, describe, save, onEnd }: EditConflictProps<F>) {
  const cache = useQueryClient();
  const refused = error?.status === 412;
  const reloaded = editing.latest.version !== editing.version;
  useEffect(() => {
    if (refused) cache.invalidateQueries();
  }, [refused, cache]);
  // Another part of the object was changed: there is nothing to decide.
  const harmless = refused && reloaded && !editing.overtaken;
  // biome-ignore lint/correctness/useExhaustiveDependencies: saves once for each refusal
  useEffect(() => {
    if (harmless) save(editing.latest.version);
  }, [harmless]);
  if (!refused || !reloaded || harmless) return null;
  const theirs = describe(editing.latest.form);
  const differences = describe(editing.form)
    .map(([field, mine], index) => ({ field, mine, theirs: theirs[index]?.[1] ?? "" }))
    .filter((row) => row.mine !== row.theirs);
  return (
    <ConflictDialog
      differences={differences}
      onOverwrite={() => save(editing.latest.version)}
      onReload={() => {
        editing.reset();
        onEnd();
      }}
      onCancel={onEnd}
    />
  );
}
