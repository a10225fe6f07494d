// The frame of both consoles: top bar, list of pages, messages.
import AppLayout from "@cloudscape-design/components/app-layout";
import SideNavigation from "@cloudscape-design/components/side-navigation";
import TopNavigation, {
  type TopNavigationProps,
} from "@cloudscape-design/components/top-navigation";
import { useLingui } from "@lingui/react/macro";
import { type ReactNode, useEffect, useState } from "react";
import { useHref, useLocation, useNavigate } from "react-router";
import { useLanguage } from "../language/language.tsx";
import { LANGUAGE_NAMES } from "../language/language-switch.tsx";
import { useSession } from "../session/session.tsx";
import { NotificationBar, NotificationProvider } from "./notifications.tsx";
import { useTheme } from "./theme.ts";
import "./console-frame.css";

interface ConsoleFrameProps {
  title: string;
  /** The pages by group. */
  items: readonly { title: string; pages: readonly { path: string; title: string }[] }[];
  /** Whose data is shown: an organisation or a company. */
  description?: string;
  search?: ReactNode;
  /** Stays in sight above the top bar. */
  brand?: ReactNode;
  /** Stays in sight above every page. */
  banner?: ReactNode;
  children: ReactNode;
}

const WIDE = "(min-width: 900px)";

export function ConsoleFrame(props: ConsoleFrameProps) {
  const { t } = useLingui();
  const [open, setOpen] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const wide = matchMedia(WIDE);
    const follow = () => setOpen(wide.matches);
    wide.addEventListener("change", follow);
    return () => wide.removeEventListener("change", follow);
  }, []);
  return (
    <NotificationProvider>
      <div id="top-bar">
        {props.brand}
        <TopBar {...props} />
        {props.banner}
      </div>
      <AppLayout
        headerSelector="#top-bar"
        navigation={
          <Navigation
            items={props.items}
            onFollow={() => {
              // on a phone the list covers the page
              if (!matchMedia(WIDE).matches) setOpen(false);
            }}
          />
        }
        navigationOpen={open}
        onNavigationChange={({ detail }) => setOpen(detail.open)}
        notifications={<NotificationBar />}
        stickyNotifications
        toolsHide
        ariaLabels={{
          navigation: t`Pages`,
          navigationClose: t`Close the list of pages`,
          navigationToggle: t`Open the list of pages`,
          notifications: t`Messages`,
        }}
        content={props.children}
      />
    </NotificationProvider>
  );
}

function TopBar({ title, description, search }: ConsoleFrameProps) {
  const { t } = useLingui();
  const { language, setLanguage } = useLanguage();
  const { dark, setDark } = useTheme();
  const { session, signOut, viewing } = useSession();
  const navigate = useNavigate();
  const other = language === "ja" ? "en" : "ja";
  const menu: TopNavigationProps.Utility = {
    type: "menu-dropdown",
    text: session.username,
    ...(description !== undefined && { description }),
    iconName: "user-profile",
    items: [
      { id: "security", text: t`Security` },
      { id: "api", text: t`API documentation`, href: "/docs", external: true },
      { id: "sign-out", text: t`Sign out` },
    ],
    onItemClick: ({ detail }) => {
      if (detail.id === "security") navigate("/security");
      if (detail.id === "sign-out") signOut();
    },
  };
  return (
    <TopNavigation
      identity={{
        href: useHref("/"),
        title,
        onFollow: (event) => {
          event.preventDefault();
          navigate("/");
        },
      }}
      search={search}
      i18nStrings={{ overflowMenuTriggerText: t`Menu` }}
      utilities={[
        {
          type: "button",
          text: LANGUAGE_NAMES[other],
          onClick: () => setLanguage(other),
        },
        {
          type: "button",
          text: dark ? t`Light` : t`Dark`,
          title: dark ? t`Use light colours` : t`Use dark colours`,
          onClick: () => setDark(!dark),
        },
        ...(viewing ? [] : [menu]),
      ]}
    />
  );
}

interface NavigationProps {
  items: ConsoleFrameProps["items"];
  onFollow: () => void;
}

function Navigation({ items, onFollow }: NavigationProps) {
  const location = useLocation();
  const navigate = useNavigate();
  const base = useHref("/").replace(/\/$/, "");
  const section = `/${location.pathname.split("/")[1] ?? ""}`;
  return (
    <SideNavigation
      activeHref={base + section}
      items={items.map((group) => ({
        type: "section",
        text: group.title,
        items: group.pages.map((page) => ({
          type: "link",
          text: page.title,
          href: base + page.path,
        })),
      }))}
      onFollow={(event) => {
        if (event.detail.external) return;
        event.preventDefault();
        navigate(event.detail.href.slice(base.length));
        onFollow();
      }}
    />
  );
}
