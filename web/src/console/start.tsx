// Opens the first page that the person may see: the month, for those who see all customers.
import { Redirect } from "../components/redirect.tsx";
import { useNavigationItems } from "./navigation.tsx";

export function Start() {
  const first = useNavigationItems()[0]?.pages[0];
  return <Redirect to={first?.path ?? "/api-clients"} />;
}
