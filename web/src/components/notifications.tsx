// Messages at the top of the page: what was done, what failed, what runs.
import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import { useLingui } from "@lingui/react/macro";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";
import type { ApiError } from "../api/client.ts";
import { useLanguage } from "../language/language.tsx";
import { useErrorText } from "./error-text.ts";
import { addMessage, isPassing, MessageTimers } from "./passing-messages.ts";

interface Notifications {
  /** Shows a message; one with the same id is replaced. */
  notify: (message: Omit<FlashbarProps.MessageDefinition, "id"> & { id?: string }) => void;
  notifyError: (error: ApiError) => void;
  dismiss: (id: string) => void;
}
const NotificationContext = createContext<Notifications | undefined>(undefined);
type Item = FlashbarProps.MessageDefinition & { id: string };
const ItemsContext = createContext<Item[]>([]);

export function useNotifications(): Notifications {
  const notifications = useContext(NotificationContext);
  if (notifications === undefined) throw new Error("useNotifications needs a NotificationProvider");
  return notifications;
}

export function NotificationProvider({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<Item[]>([]);
  const { t } = useLingui();
  const { language } = useLanguage();
  const errorText = useErrorText();
  const dismissLabel = t`Close the message`;
  const dismiss = useCallback(
    (id: string) => setItems((shown) => shown.filter((item) => item.id !== id)),
    [],
  );
  const notify = useCallback<Notifications["notify"]>(
    (message) => {
      const id = message.id ?? crypto.randomUUID();
      const onDismiss = () => dismiss(id);
      const item = { dismissible: true, dismissLabel, onDismiss, ...message, id };
      setItems((shown) => addMessage(shown, item));
    },
    [dismiss, dismissLabel],
  );
  // Messages are written once; those of the other language say nothing that is still needed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the language changes
  useEffect(() => setItems((shown) => shown.filter((item) => !isPassing(item))), [language]);
  const value = useMemo<Notifications>(
    () => ({
      notify,
      dismiss,
      notifyError: (error) => notify({ type: "error", content: errorText(error) }),
    }),
    [notify, dismiss, errorText],
  );
  return (
    <NotificationContext.Provider value={value}>
      <ItemsContext.Provider value={items}>{children}</ItemsContext.Provider>
    </NotificationContext.Provider>
  );
}

export function NotificationBar() {
  const items = useContext(ItemsContext);
  const { dismiss } = useNotifications();
  const timers = useMemo(() => new MessageTimers(dismiss), [dismiss]);
  useEffect(() => {
    timers.show(items.filter(isPassing).map((item) => item.id));
    // a closed message takes its pointer and focus with it
    if (items.length === 0) timers.release();
  }, [timers, items]);
  useEffect(() => () => timers.show([]), [timers]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: reading a message keeps it, nothing more
    <div
      onPointerEnter={() => timers.hold()}
      onPointerLeave={() => timers.release()}
      onFocus={() => timers.hold()}
      onBlur={() => timers.release()}
    >
      <Flashbar items={items} />
    </div>
  );
}
