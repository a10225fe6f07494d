// Guides an empty organisation from its first import to its first invoice.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";

export function FirstSteps() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const steps = [
    {
      title: t`1. Enter who sends the invoices`,
      text: t`Company name, registration number and bank account are printed on every invoice.`,
      action: t`Create an invoice template`,
      path: "/templates",
    },
    {
      title: t`2. Enter your customers and their accounts`,
      text: t`One by one, or all at once from a CSV file.`,
      action: t`Add customers`,
      path: "/customers",
    },
    {
      title: t`3. Import the first month`,
      text: t`Upload the vendor's cost files. Accounts without a customer are listed afterwards.`,
      action: t`Import files`,
      path: "/imports",
    },
  ];
  return (
    <ContentLayout
      header={
        <Header variant="h1" description={t`Three steps lead to the first invoice.`}>
          <Trans>Welcome to Nimbill</Trans>
        </Header>
      }
    >
      <SpaceBetween size="l">
        {steps.map((step) => (
          <Container
            key={step.path}
            header={
              <Header
                variant="h2"
                description={step.text}
                actions={<Button onClick={() => navigate(step.path)}>{step.action}</Button>}
              >
                {step.title}
              </Header>
            }
          />
        ))}
      </SpaceBetween>
    </ContentLayout>
  );
}
