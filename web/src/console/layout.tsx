// The frame of every page: top bar, navigation, messages.
import AppLayout from "@cloudscape-design/components/app-layout";
import SideNavigation from "@cloudscape-design/components/side-navigation";
import TopNavigation from "@cloudscape-design/components/top-navigation";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { Outlet, useHref, useLocation, useNavigate } from "react-router";
import { NotificationBar, NotificationProvider } from "../components/notifications.tsx";
import { QueryState } from "../components/query-state.tsx";
import { useTheme } from "../components/theme.ts";
import { useLanguage } from "../language/language.tsx";
import { LANGUAGE_NAMES } from "../language/language-switch.tsx";
import { useSession } from "../session/session.tsx";
import { GlobalSearch } from "./global-search.tsx";
import { useMe } from "./me.ts";
import { useNavigationItems } from "./navigation.tsx";

export function Layout() {
  const { t } = useLingui();
  const me = useMe();
  const [open, setOpen] = useState(() => matchMedia("(min-width: 900px)").matches);
  return (
    <NotificationProvider>
      <div id="top-bar">
        <TopBar />
      </div>
      <AppLayout
        headerSelector="#top-bar"
        navigation={<Navigation />}
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
        content={<QueryState query={me}>{() => <Outlet />}</QueryState>}
      />
    </NotificationProvider>
  );
}

function TopBar() {
  const { t } = useLingui();
  const { language, setLanguage } = useLanguage();
  const { dark, setDark } = useTheme();
  const { session, signOut } = useSession();
  const organisation = useMe().data?.organisation_name;
  const navigate = useNavigate();
  const other = language === "ja" ? "en" : "ja";
  return (
    <TopNavigation
      identity={{
        href: useHref("/"),
        title: "Nimbill",
        onFollow: (event) => {
          event.preventDefault();
          navigate("/");
        },
      }}
      search={<GlobalSearch />}
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
        {
          type: "menu-dropdown",
          text: session.username,
          ...(organisation !== undefined && { description: organisation }),
          iconName: "user-profile",
          items: [
            { id: "api", text: t`API documentation`, href: "/docs", external: true },
            { id: "sign-out", text: t`Sign out` },
          ],
          onItemClick: ({ detail }) => {
            if (detail.id === "sign-out") signOut();
          },
        },
      ]}
    />
  );
}

function Navigation() {
  const location = useLocation();
  const navigate = useNavigate();
  const items = useNavigationItems();
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
      }}
    />
  );
}
