// Chooses the invoices to be mailed, how, and from when customers see them.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useClient } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatDate } from "../../../components/month.ts";
import { useIsNarrow } from "../../../components/narrow.ts";
import { NarrowRows } from "../../../components/narrow-rows.tsx";
import { readPublishTime } from "../../../components/publication-time.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useTimeZone } from "../../me.ts";
import { addSendingPath } from "../../sending-path.ts";
import { listRecipients, type PreviewedMail, useDeliveryTexts } from "./delivery-texts.ts";
import { MailPreview } from "./mail-preview.tsx";
import { isMarkable, MarkDialog } from "./mark-dialog.tsx";
import { MissingContacts } from "./missing-contacts.tsx";
import { SendDialog } from "./send-dialog.tsx";
import { AT_ONCE, type SendingChoice, SendingOptions } from "./sending-options.tsx";

const PREVIEW = "/m/core/invoices/{month}/deliveries/preview";
type Preview = components["schemas"]["SendingPreview"];

export function SendInvoices({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const client = useClient();
  const timeZone = useTimeZone();
  const [choice, setChoice] = useState<SendingChoice>(AT_ONCE);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [added, setAdded] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState<PreviewedMail>();
  const [sending, setSending] = useState(false);
  const [marking, setMarking] = useState(false);
  const { method } = choice;
  const preview = useQuery<Preview, ApiError>({
    queryKey: [PREVIEW, { month }, { vendor, method }],
    queryFn: () => client.post(PREVIEW, { path: { month }, body: { vendor, method } }),
  });
  const columns = useColumns(setShown, month, vendor);
  return (
    <QueryState query={preview}>
      {({ mails }) => {
        const open = mails.filter(({ problems }) => !problems.includes("already_sent"));
        const ready = open.filter(({ problems }) => problems.length === 0);
        const mailed = ready.filter(({ company_id }) => !left.has(company_id));
        // Customers who cannot be mailed are selected by hand, and only to be marked as sent.
        const markable = open.filter(isMarkable);
        const marked = markable.filter(({ company_id }) => added.has(company_id));
        return (
          <>
            <MissingContacts mails={open} month={month} vendor={vendor} />
            <ChosenMails
              items={open}
              trackBy="company_id"
              selectedItems={[...mailed, ...marked]}
              isItemDisabled={(mail) => mail.problems.length > 0 && !isMarkable(mail)}
              onSelectionChange={({ detail }) => {
                const kept = new Set(detail.selectedItems.map(({ company_id }) => company_id));
                const all = ready.map(({ company_id }) => company_id);
                setLeft(new Set(all.filter((company) => !kept.has(company))));
                const others = markable.map(({ company_id }) => company_id);
                setAdded(new Set(others.filter((company) => kept.has(company))));
              }}
              columns={columns}
              header={
                <SpaceBetween size="m">
                  <Header
                    variant="h2"
                    counter={`(${mailed.length + marked.length}/${open.length})`}
                    actions={
                      <SpaceBetween direction="horizontal" size="xs">
                        {markable.length > 0 && (
                          <Button disabled={marked.length === 0} onClick={() => setMarking(true)}>
                            {marked.length === 0
                              ? t`Mark as sent`
                              : t`Mark ${plural(marked.length, { one: "# invoice", other: "# invoices" })} as sent`}
                          </Button>
                        )}
                        <Button
                          variant="primary"
                          disabled={
                            mailed.length === 0 || readPublishTime(choice, timeZone) === undefined
                          }
                          onClick={() => setSending(true)}
                        >
                          {t`Send ${plural(mailed.length, { one: "# invoice", other: "# invoices" })}`}
                        </Button>
                      </SpaceBetween>
                    }
                  >
                    <Trans>Invoices to be sent</Trans>
                  </Header>
                  <SendingOptions choice={choice} onChange={setChoice} />
                </SpaceBetween>
              }
              empty={
                <Box textAlign="center">
                  {mails.length === 0 ? (
                    <Trans>No invoice has been created.</Trans>
                  ) : (
                    <Trans>All invoices of this month were sent.</Trans>
                  )}
                </Box>
              }
            />
            {shown && <MailPreview mail={shown} onEnd={() => setShown(undefined)} />}
            {sending && (
              <SendDialog
                month={month}
                vendor={vendor}
                choice={choice}
                mails={mailed}
                unsent={
                  open.filter(({ problems }) => !problems.includes("cancelled")).length -
                  mailed.length
                }
                onEnd={() => setSending(false)}
              />
            )}
            {marking && (
              <MarkDialog
                month={month}
                vendor={vendor}
                mails={marked}
                onEnd={() => setMarking(false)}
              />
            )}
          </>
        );
      }}
    </QueryState>
  );
}

interface ChosenMailsProps
  extends Pick<
    TableProps<PreviewedMail>,
    "items" | "trackBy" | "selectedItems" | "isItemDisabled" | "header" | "empty"
  > {
  columns: ReturnType<typeof useColumns>;
  onSelectionChange: (event: { detail: { selectedItems: PreviewedMail[] } }) => void;
}

/** On a phone each mail is a card. */
function ChosenMails({ columns, ...props }: ChosenMailsProps) {
  const { t } = useLingui();
  const label = t`Invoices to be sent`;
  const parts = { ...props, selectionType: "multi" as const };
  const ariaLabels = {
    selectionGroupLabel: t`Selection`,
    itemSelectionLabel: (_: unknown, mail: PreviewedMail) => t`Select ${mail.billinggroup_name}`,
  };
  if (useIsNarrow())
    return (
      <NarrowRows<PreviewedMail>
        {...parts}
        columns={columns}
        ariaLabels={{ ...ariaLabels, cardsLabel: label }}
      />
    );
  return (
    <Table<PreviewedMail>
      {...parts}
      variant="container"
      wrapLines
      columnDefinitions={columns}
      ariaLabels={{
        ...ariaLabels,
        allItemsSelectionLabel: () => t`Select all`,
        tableLabel: label,
      }}
    />
  );
}

function useColumns(show: (mail: PreviewedMail) => void, month: string, vendor: string) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { problems: texts } = useDeliveryTexts();
  return [
    {
      id: "group",
      header: t`Customer`,
      minWidth: 180,
      isRowHeader: true,
      cell: (mail: PreviewedMail) => (
        <>
          {mail.billinggroup_name}
          <Box variant="small" display="block" color="text-body-secondary">
            <RouterLink to={`/invoices/${month}/${mail.company_id}/${vendor}`} fontSize="body-s">
              {mail.invoice_no}
            </RouterLink>
          </Box>
        </>
      ),
    },
    {
      id: "total",
      header: t`Total`,
      minWidth: 110,
      cell: (mail: PreviewedMail) => <Amount value={mail.total} currency={mail.currency} />,
    },
    {
      id: "due_date",
      header: t`Due date`,
      minWidth: 135,
      cell: (mail: PreviewedMail) =>
        mail.due_date === null ? "" : formatDate(mail.due_date, language),
    },
    {
      id: "recipients",
      header: t`Recipients`,
      cell: (mail: PreviewedMail) => listRecipients(mail.recipients),
    },
    {
      id: "problems",
      header: t`What is missing`,
      cell: (mail: PreviewedMail) =>
        mail.problems.map((problem) => (
          <div key={problem}>
            {problem === "no_contact" ? (
              <RouterLink
                to={addSendingPath(`/customers/${mail.company_id}?tab=contacts`, month, vendor)}
              >
                {texts[problem]}
              </RouterLink>
            ) : (
              texts[problem]
            )}
          </div>
        )),
    },
    {
      id: "mail",
      header: t`Mail`,
      minWidth: 85,
      cell: (mail: PreviewedMail) => (
        <Button
          variant="inline-link"
          ariaLabel={t`Show the mail to ${mail.billinggroup_name}`}
          onClick={() => show(mail)}
        >
          <Trans>Show</Trans>
        </Button>
      ),
    },
  ];
}
