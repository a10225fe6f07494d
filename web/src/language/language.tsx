// The language of the page: Japanese or English, kept in the browser.
import { I18nProvider as ComponentMessages } from "@cloudscape-design/components/i18n";
import { i18n, type Messages } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";

export type Language = "ja" | "en";
const STORAGE_KEY = "nimbill-language";

type ComponentCatalogue = Parameters<typeof ComponentMessages>[0]["messages"][number];
interface Catalogues {
  own: Messages;
  components: ComponentCatalogue;
}
const LOADERS: Record<Language, () => Promise<Catalogues>> = {
  ja: async () => ({
    own: (await import("./locales/ja.po")).messages,
    components: (await import("@cloudscape-design/components/i18n/messages/all.ja")).default,
  }),
  en: async () => ({
    own: (await import("./locales/en.po")).messages,
    components: (await import("@cloudscape-design/components/i18n/messages/all.en")).default,
  }),
};

interface LanguageChoice {
  language: Language;
  setLanguage: (language: Language) => void;
  /** Uses the language unless the person has chosen one. */
  suggestLanguage: (language: Language) => void;
}
const LanguageContext = createContext<LanguageChoice>({
  language: "ja",
  setLanguage: () => {},
  suggestLanguage: () => {},
});

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}

function storedLanguage(): Language | undefined {
  const stored = localStorage.getItem(STORAGE_KEY);
  return stored === "ja" || stored === "en" ? stored : undefined;
}

function initialLanguage(remembered: boolean): Language {
  const stored = remembered ? storedLanguage() : undefined;
  if (stored !== undefined) return stored;
  return navigator.language.startsWith("ja") ? "ja" : "en";
}

interface LanguageProviderProps {
  /** Whether a choice is kept in the browser; otherwise the suggested language comes first. */
  remembered?: boolean;
  children: ReactNode;
}

export function LanguageProvider({ remembered = true, children }: LanguageProviderProps) {
  const [language, setLanguage] = useState(() => initialLanguage(remembered));
  const [shown, setShown] = useState<{ language: Language; components: ComponentCatalogue }>();

  useEffect(() => {
    let current = true;
    LOADERS[language]().then(({ own, components }) => {
      if (!current) return;
      i18n.loadAndActivate({ locale: language, messages: own });
      document.documentElement.lang = language;
      setShown({ language, components });
    });
    return () => {
      current = false;
    };
  }, [language]);

  const suggestLanguage = useCallback(
    (suggested: Language) => {
      if (!remembered || storedLanguage() === undefined) setLanguage(suggested);
    },
    [remembered],
  );
  if (shown === undefined) return null;
  const choose = (chosen: Language) => {
    if (remembered) localStorage.setItem(STORAGE_KEY, chosen);
    setLanguage(chosen);
  };
  return (
    <LanguageContext.Provider
      value={{ language: shown.language, setLanguage: choose, suggestLanguage }}
    >
      <I18nProvider i18n={i18n}>
        <ComponentMessages locale={shown.language} messages={[shown.components]}>
          {children}
        </ComponentMessages>
      </I18nProvider>
    </LanguageContext.Provider>
  );
}
