// A link inside the console that does not load the page anew.
import Link, { type LinkProps } from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useHref, useNavigate } from "react-router";

interface RouterLinkProps extends Omit<LinkProps, "href" | "onFollow"> {
  to: string;
  children: ReactNode;
}

export function RouterLink({ to, ...rest }: RouterLinkProps) {
  const navigate = useNavigate();
  return (
    <Link
      {...rest}
      href={useHref(to)}
      onFollow={(event) => {
        event.preventDefault();
        navigate(to);
      }}
    />
  );
}
