// One request: what is reviewed, and the decision of the second person.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useParams } from "react-router";
import { useApi, useChange } from "../../../api/queries.ts";
import { formatTime } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { AuditLink } from "../../audit-link.tsx";
import {
  type Approval,
  STATE_INDICATORS,
  useApprovalStates,
  useApprovalTitle,
} from "./approval-texts.ts";
import { ApproveDialog, RejectDialog } from "./decision-dialogs.tsx";
import { ReviewedContent } from "./reviewed-content.tsx";

export default function ApprovalPage() {
  const { t } = useLingui();
  const { id = "" } = useParams();
  const titleOf = useApprovalTitle();
  const approval = useApi("/m/core/approvals/{approval_id}", { path: { approval_id: id } });
  const title = approval.data === undefined ? t`Approval` : titleOf(approval.data);
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          actions={
            <SpaceBetween direction="horizontal" size="m">
              <AuditLink search={id} />
              <RouterLink to="/approvals">
                <Trans>All requests</Trans>
              </RouterLink>
            </SpaceBetween>
          }
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <QueryState query={approval}>
        {(loaded) => (
          <SpaceBetween size="l">
            <Facts approval={loaded} />
            <ReviewedContent approval={loaded} />
          </SpaceBetween>
        )}
      </QueryState>
    </ContentLayout>
  );
}

function Facts({ approval }: { approval: Approval }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const states = useApprovalStates();
  const { state, decide_time: decided } = approval;
  return (
    <Container
      header={
        <Header variant="h2" actions={<Decision approval={approval} />}>
          {t({ message: "Request", context: "approval" })}
        </Header>
      }
    >
      <SpaceBetween size="m">
        <KeyValuePairs
          columns={3}
          items={[
            {
              label: t`State`,
              value: (
                <StatusIndicator type={STATE_INDICATORS[state]}>{states[state]}</StatusIndicator>
              ),
            },
            { label: t`Requested by`, value: approval.requested_by },
            { label: t`Comment`, value: approval.comment || "–" },
            { label: t`Creation time`, value: formatTime(approval.create_time, language) },
            { label: t`Expires`, value: formatTime(approval.expire_time, language) },
            {
              label: t`Decided`,
              value:
                decided === null
                  ? "–"
                  : `${formatTime(decided, language)} ${approval.decided_by ?? ""}`,
            },
            ...(approval.reason === null ? [] : [{ label: t`Reason`, value: approval.reason }]),
          ]}
        />
        {state === "requested" && !approval.can_approve && (
          <Alert type="info">
            <Trans>
              Another person has to decide: neither the requester nor whoever made what is reviewed
              may approve it.
            </Trans>
          </Alert>
        )}
      </SpaceBetween>
    </Container>
  );
}

function Decision({ approval }: { approval: Approval }) {
  const { t } = useLingui();
  const { notify, notifyError } = useNotifications();
  const [open, setOpen] = useState<"approve" | "reject">();
  const onEnd = () => setOpen(undefined);
  const withdraw = useChange(
    (client) =>
      client.post("/m/core/approvals/{approval_id}/withdraw", {
        path: { approval_id: approval.approval_id },
      }),
    {
      onSuccess: () => notify({ type: "success", content: t`The request was withdrawn.` }),
      onError: notifyError,
    },
  );
  return (
    <>
      <SpaceBetween direction="horizontal" size="xs">
        {approval.can_withdraw && (
          <Button loading={withdraw.isPending} onClick={() => withdraw.mutate(undefined)}>
            <Trans>Withdraw</Trans>
          </Button>
        )}
        {approval.can_approve && (
          <Button onClick={() => setOpen("reject")}>
            <Trans>Reject</Trans>
          </Button>
        )}
        {approval.can_approve && (
          <Button variant="primary" onClick={() => setOpen("approve")}>
            <Trans>Approve</Trans>
          </Button>
        )}
      </SpaceBetween>
      {open === "approve" && <ApproveDialog approval={approval} onEnd={onEnd} />}
      {open === "reject" && <RejectDialog approval={approval} onEnd={onEnd} />}
    </>
  );
}
