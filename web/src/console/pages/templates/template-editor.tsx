// The form of a template with its buttons.
import Button from "@cloudscape-design/components/button";
import Form from "@cloudscape-design/components/form";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ApiError } from "../../../api/client.ts";
import {
  ApprovalOffer,
  type ApprovalRequest,
  isApprovalRequired,
} from "../../../components/approval-request.tsx";
import { useErrorText } from "../../../components/error-text.ts";
import { readViolations } from "../../../components/field-errors.ts";
import { useMay } from "../../me.ts";
import { TemplateFields } from "./template-fields.tsx";
import type { TemplateForm } from "./template-form.ts";

interface TemplateEditorProps {
  form: TemplateForm;
  change: (part: Partial<TemplateForm>) => void;
  changed: boolean;
  busy: boolean;
  error: ApiError | null;
  onSave: () => void;
  onUndo: () => void;
  /** The same change as a request, offered if a second person has to approve it. */
  approval: ApprovalRequest;
  onRequested: () => void;
}

export function TemplateEditor(props: TemplateEditorProps) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyBillingGroup");
  const errorText = useErrorText();
  const { form, error } = props;
  const ready = form.name.trim() !== "" && form.company.trim() !== "";
  const formError =
    error === null || isApprovalRequired(error)
      ? ""
      : readViolations(error).length > 0
        ? t`Some fields are refused. They are marked.`
        : errorText(error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) props.onSave();
      }}
    >
      <Form
        errorText={formError}
        actions={
          mayChange && (
            <SpaceBetween direction="horizontal" size="xs">
              <Button
                formAction="none"
                variant="link"
                disabled={!props.changed}
                onClick={props.onUndo}
              >
                <Trans>Undo the changes</Trans>
              </Button>
              <Button variant="primary" disabled={!ready || !props.changed} loading={props.busy}>
                <Trans>Save the template</Trans>
              </Button>
            </SpaceBetween>
          )
        }
      >
        <SpaceBetween size="l">
          <ApprovalOffer error={error} request={props.approval} onRequested={props.onRequested} />
          <TemplateFields
            form={form}
            change={props.change}
            error={error}
            disabled={!mayChange || props.busy}
          />
        </SpaceBetween>
      </Form>
    </form>
  );
}
