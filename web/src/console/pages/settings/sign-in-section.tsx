// Whether people must have a second factor to sign in.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { useLingui } from "@lingui/react/macro";
import type { SectionProps } from "./setting-fields.ts";

export function SignInSection({ form, change, disabled }: SectionProps) {
  const { t } = useLingui();
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`A passkey or an authenticator app, in addition to the password. Who has none registers one at the next sign-in.`}
        >
          {t`Signing in`}
        </Header>
      }
    >
      <SpaceBetween size="s">
        <Toggle
          checked={form.staffFactor}
          disabled={disabled}
          onChange={({ detail }) => change({ staffFactor: detail.checked })}
        >
          {t`Your people need a second factor`}
        </Toggle>
        <Toggle
          checked={form.customerFactor}
          disabled={disabled}
          onChange={({ detail }) => change({ customerFactor: detail.checked })}
        >
          {t`Customers need a second factor`}
        </Toggle>
      </SpaceBetween>
    </Container>
  );
}
