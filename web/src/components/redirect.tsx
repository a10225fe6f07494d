// Leads to another page, unless the person has chosen one meanwhile and it is still loading.
import { Navigate, useNavigation } from "react-router";

export function Redirect({ to }: { to: string }) {
  return useNavigation().state === "idle" ? <Navigate to={to} replace /> : null;
}
