// Messages at the top of the page: what was done, what failed, what runs.
import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import { useLingui } from "@lingui/react/macro";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import type { ApiError } from "../api/client.ts";
import { useErrorText } from "./error-text.ts";

interface Notifications {
  /** Shows a message; one with the same id is replaced. */
  notify: (message: Omit<FlashbarProps.MessageDefinition, "id"> & { id?: string }) => void;
  notifyError: (error: ApiError) => void;
  dismiss: (id: string) => void;
}
const NotificationContext = createContext<Notifications | undefined>(undefined);
const ItemsContext = createContext<FlashbarProps.MessageDefinition[]>([]);

export function useNotifications(): Notifications {
  const notifications = useContext(NotificationContext);
  if (notifications === undefined) throw new Error("useNotifications needs a NotificationProvider");
  return notifications;
}

export function NotificationProvider({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<FlashbarProps.MessageDefinition[]>([]);
  const { t } = useLingui();
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
      setItems((shown) => [item, ...shown.filter((other) => other.id !== id)]);
    },
    [dismiss, dismissLabel],
  );
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
  return <Flashbar items={useContext(ItemsContext)} stackItems />;
}
