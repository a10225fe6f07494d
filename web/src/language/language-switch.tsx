// Chooses Japanese or English; each language is named in itself.
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import { useLingui } from "@lingui/react/macro";
import { type Language, useLanguage } from "./language.tsx";

export const LANGUAGE_NAMES: Record<Language, string> = { ja: "日本語", en: "English" };

export function LanguageSwitch() {
  const { t } = useLingui();
  const { language, setLanguage } = useLanguage();
  return (
    <SegmentedControl
      label={t`Language`}
      selectedId={language}
      onChange={({ detail }) => setLanguage(detail.selectedId as Language)}
      options={Object.entries(LANGUAGE_NAMES).map(([id, text]) => ({ id, text }))}
    />
  );
}
