// Which operations need the approval of a second person.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { useLingui } from "@lingui/react/macro";
import { type ApprovalKind, useApprovalKinds } from "../approvals/approval-texts.ts";
import type { SectionProps } from "./setting-fields.ts";

export function ApprovalSection({ form, change, disabled }: SectionProps) {
  const { t } = useLingui();
  const kinds = Object.entries(useApprovalKinds()) as [ApprovalKind, string][];
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`These operations wait until a second person approves them, whoever asks for them. Once one is chosen, a change of this list has to be approved too.`}
        >
          {t`Approval`}
        </Header>
      }
    >
      <SpaceBetween size="s">
        {kinds.map(([kind, text]) => (
          <Toggle
            key={kind}
            checked={form.approvalKinds.includes(kind)}
            disabled={disabled}
            onChange={({ detail }) =>
              change({
                approvalKinds: kinds
                  .map(([each]) => each)
                  .filter((each) =>
                    each === kind ? detail.checked : form.approvalKinds.includes(each),
                  ),
              })
            }
          >
            {text}
          </Toggle>
        ))}
      </SpaceBetween>
    </Container>
  );
}
