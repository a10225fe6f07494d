// What the service accepts in one upload; checked here before anything is sent.
import { useLingui } from "@lingui/react/macro";

const BYTES_MAX = 256 * 2 ** 20;
const FILES_MAX = 100;

/** What is wrong with the files, or nothing. */
export function useFileProblem(): (files: readonly File[]) => string {
  const { t } = useLingui();
  return (files) => {
    if (files.length > FILES_MAX) return t`Choose at most ${FILES_MAX} files.`;
    const names = new Set<string>();
    for (const { name } of files) {
      if (names.has(name)) return t`Two files have the name ${name}. Remove one of them.`;
      names.add(name);
    }
    if (files.reduce((sum, file) => sum + file.size, 0) > BYTES_MAX)
      return t`The files have more than 256 MiB together. Import them from a storage location.`;
    return "";
  };
}
