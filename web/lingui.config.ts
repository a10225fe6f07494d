// Messages are English in the source and translated in src/language/locales.
import { defineConfig } from "@lingui/cli";
import { formatter } from "@lingui/format-po";

export default defineConfig({
  sourceLocale: "en",
  locales: ["en", "ja"],
  catalogs: [{ path: "<rootDir>/src/language/locales/{locale}", include: ["src"] }],
  format: formatter({ lineNumbers: false, origins: false }),
  orderBy: "message",
});
