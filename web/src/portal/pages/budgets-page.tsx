// Budgets with their state, and who is told when a threshold is passed.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../api/queries.ts";
import { useVersioned } from "../../components/editing.ts";
import { formatMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { QueryState } from "../../components/query-state.tsx";
import { useLanguage } from "../../language/language.tsx";
import { BudgetAlerts } from "../budget-alerts.tsx";
import { BudgetBar, type BudgetState } from "../budget-bar.tsx";
import { BudgetDialog, DeleteBudgetDialog } from "../budget-dialog.tsx";
import { useFlag, useMayChange, useMe } from "../me.ts";
import { PriceNotes } from "../price-notes.tsx";

type Open = { kind: "edit"; budget?: BudgetState } | { kind: "delete"; budget: BudgetState };

export default function BudgetsPage() {
  const { t } = useLingui();
  const { language } = useLanguage();
  const flag = useFlag();
  const mayChange = useMayChange();
  const filtered = useMe().data?.filtered ?? true;
  const mayModify = mayChange("ModifyBudget") && !filtered;
  const mayEdit = mayModify && flag("usage_account_menu_budget_edit");
  const budgets = useVersioned("/m/portal/budgets");
  const [open, setOpen] = useState<Open>();
  const end = () => setOpen(undefined);
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`Amounts for every calendar month. Thresholds send a mail once a month.`}
          actions={
            mayEdit && (
              <Button variant="primary" onClick={() => setOpen({ kind: "edit" })}>
                <Trans>Add a budget</Trans>
              </Button>
            )
          }
        >
          <Trans>Budgets</Trans>
        </Header>
      }
    >
      <PageTitle title={t`Budgets`} />
      <SpaceBetween size="l">
        <QueryState query={budgets}>
          {({ data }) => (
            <SpaceBetween size="l">
              <PriceNotes unpriced={data.unpriced} />
              {data.budgets.length === 0 && (
                <Container>
                  <Box color="text-body-secondary">
                    <Trans>There is no budget yet.</Trans>
                  </Box>
                </Container>
              )}
              {data.budgets.map((budget) => (
                <Container
                  key={budget.budget_id}
                  header={
                    <Header
                      variant="h2"
                      description={<Target budget={budget} />}
                      actions={
                        mayEdit && (
                          <SpaceBetween direction="horizontal" size="xs">
                            <Button
                              ariaLabel={t`Change ${budget.name}`}
                              onClick={() => setOpen({ kind: "edit", budget })}
                            >
                              <Trans>Edit</Trans>
                            </Button>
                            <Button
                              ariaLabel={t`Delete ${budget.name}`}
                              onClick={() => setOpen({ kind: "delete", budget })}
                            >
                              <Trans>Delete</Trans>
                            </Button>
                          </SpaceBetween>
                        )
                      }
                    >
                      {budget.name}
                    </Header>
                  }
                >
                  <SpaceBetween size="s">
                    <BudgetBar budget={{ ...budget, name: formatMonth(data.month, language) }} />
                    <Thresholds budget={budget} />
                  </SpaceBetween>
                </Container>
              ))}
            </SpaceBetween>
          )}
        </QueryState>
        {flag("budgetalerts") && !filtered && <BudgetAlerts mayEdit={mayModify} />}
      </SpaceBetween>
      {open?.kind === "edit" && budgets.data !== undefined && (
        <BudgetDialog
          loaded={budgets.data}
          {...(open.budget && { budget: open.budget })}
          onEnd={end}
        />
      )}
      {open?.kind === "delete" && <DeleteBudgetDialog budget={open.budget} onEnd={end} />}
    </ContentLayout>
  );
}

function Target({ budget }: { budget: BudgetState }) {
  const { t } = useLingui();
  const accounts = useApi("/m/portal/accounts", {}, { enabled: budget.target === "account" });
  switch (budget.target) {
    case "company":
      return <>{t`All costs`}</>;
    case "account": {
      const account = accounts.data?.find((each) => each.customer_id === budget.target_id);
      return <>{t`Account ${account?.name ?? budget.target_id}`}</>;
    }
    case "group":
      return <>{t`Account group`}</>;
    case "tag":
      return <>{t`Tag ${budget.target_id}`}</>;
  }
}

function Thresholds({ budget }: { budget: BudgetState }) {
  const { t } = useLingui();
  if (budget.thresholds.length === 0) return null;
  const texts = budget.thresholds.map(({ percent, of }) =>
    of === "forecast" ? t`${percent}% of the forecast` : t`${percent}% used`,
  );
  return (
    <Box variant="small">
      <Trans>Thresholds: {texts.join(" · ")}</Trans>
    </Box>
  );
}
