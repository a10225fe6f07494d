// The frame of every page of the reseller's console.
import { Outlet } from "react-router";
import { ConsoleFrame } from "../components/console-frame.tsx";
import { QueryState } from "../components/query-state.tsx";
import { GlobalSearch } from "./global-search.tsx";
import { useMe } from "./me.ts";
import { useNavigationItems } from "./navigation.tsx";

export function Layout() {
  const me = useMe();
  const organisation = me.data?.organisation_name;
  return (
    <ConsoleFrame
      title="Nimbill"
      items={useNavigationItems()}
      search={<GlobalSearch />}
      {...(organisation !== undefined && { description: organisation })}
    >
      <QueryState query={me}>{() => <Outlet />}</QueryState>
    </ConsoleFrame>
  );
}
