// What the actions of the audit log are called, by the part of the work that they belong to.
import { useLingui } from "@lingui/react/macro";

export interface ActionGroup {
  title: string;
  actions: Readonly<Record<string, string>>;
}

export function useActionGroups(): ActionGroup[] {
  const { t } = useLingui();
  return [
    {
      title: t`Exchange rates and months`,
      actions: {
        save_exchange_rates: t`Exchange rate saved`,
        save_exchange_rates_by_post: t`Exchange rate saved (older way)`,
        save_invoice_settings: t`Terms of a month changed`,
        close_month: t`Month closed`,
        reopen_month: t`Month reopened`,
      },
    },
    {
      title: t`Customers and terms`,
      actions: {
        update_invoice_setting: t`Terms of a customer changed`,
        create_billing_group: t`Customer added`,
        create_billing_groups_from_csv: t`Customers added from CSV`,
        update_billing_group: t`Customer changed`,
        delete_billing_group: t`Customer deleted`,
        create_contact: t`Contact added`,
        replace_contact: t`Contact changed`,
        delete_contact: t`Contact deleted`,
        update_free_format: t`Free-format items changed`,
        delete_free_format: t`Free-format items deleted`,
        delete_free_format_of_vendor: t`Free-format items of a vendor deleted`,
        update_invoice_template_of_group: t`Template assigned to a customer`,
        create_invoice_template: t`Template created`,
        change_invoice_template: t`Template changed`,
        delete_invoice_template: t`Template deleted`,
      },
    },
    {
      title: t`Invoices`,
      actions: {
        use_default_terms: t`Terms used for an open month`,
        create_invoice: t`One invoice created`,
        create_invoices: t`Invoices of a month created`,
        mark_invoice_as_sent: t`Invoice marked as sent`,
        send_invoice: t`Invoice mailed`,
        retry_delivery: t`Mail with an invoice sent again`,
        publish_invoice: t`Time of publication changed`,
        cancel_invoice: t`Invoice cancelled`,
        issue_credit_note: t`Credit note issued`,
        record_payment: t`Payment recorded`,
        reverse_payment: t`Payment reversed`,
        replace_invoice: t`Invoice replaced`,
        decide_drift: t`Late costs decided`,
        apply_recalculation: t`Entry applied or undone`,
        move_reserved_instance: t`Reserved instance moved`,
        remove_reserved_instance: t`Reserved instance returned`,
        export_billing_group_csv: t`Customers exported`,
        export_billing_group_setting_csv: t`Terms exported`,
        export_invoice_account_csv: t`Invoices by account exported`,
        export_invoice_tag_csv: t`Invoices by tag exported`,
      },
    },
    {
      title: t`Accounts and costs`,
      actions: {
        create_account: t`Account added`,
        create_accounts_from_csv: t`Accounts added from CSV`,
        assign_account: t`Account assigned to a customer`,
        update_account: t`Account changed`,
        delete_account: t`Account deleted`,
        create_import: t`Import started`,
        import_costs: t`Costs imported`,
        release_import: t`Import on hold released`,
      },
    },
    {
      title: t`Projects`,
      actions: {
        create_project: t`Project created`,
        edit_project: t`Project changed`,
        delete_project: t`Project deleted`,
      },
    },
    {
      title: t`Portal`,
      actions: {
        create_or_list_resellers: t`Portal login created`,
        update_reseller_meta: t`Portal login changed`,
        change_reseller_password: t`Password of a portal login changed`,
        end_reseller_session: t`Session of a portal login ended`,
        remove_reseller_factors: t`Second factors of a portal login removed`,
        delete_reseller: t`Portal login deleted`,
        create_account_group: t`Account group created`,
        change_account_group: t`Account group changed`,
        delete_account_group: t`Account group deleted`,
        create_saved_filter: t`Filter saved`,
        delete_saved_filter: t`Saved filter deleted`,
        change_budgets: t`Budgets changed`,
        change_budget_alerts: t`Budget alerts changed`,
        rename_account: t`Account renamed by the customer`,
        begin_portal_view: t`Portal viewed as a customer`,
        end_portal_view: t`View of the portal ended`,
        store_portal_logo: t`Logo of the portal saved`,
        delete_portal_logo: t`Logo of the portal removed`,
        create_webhook: t`Webhook endpoint added`,
        update_webhook: t`Webhook endpoint changed`,
        delete_webhook: t`Webhook endpoint deleted`,
        rotate_webhook_secret: t`Secret of a webhook endpoint replaced`,
        send_test_webhook: t`Test event sent to a webhook endpoint`,
        replay_webhook_delivery: t`Webhook event sent again`,
        replay_failed_webhooks: t`Failed webhook events sent again`,
      },
    },
    {
      title: t`Approvals`,
      actions: {
        request_approval: t`Approval requested`,
        approve_request: t`Request approved`,
        reject_request: t`Request rejected`,
        withdraw_request: t`Request withdrawn`,
        expire_approval: t`Request expired`,
        outdate_approval: t`Request outdated`,
        approve_invoices: t`Invoices approved`,
      },
    },
    {
      title: t`People and organisation`,
      actions: {
        create_subuser: t`Person added`,
        delete_subuser: t`Person deleted`,
        change_password: t`Password changed`,
        choose_password: t`Password chosen with a link`,
        reset_password: t`Password reset`,
        sign_out_of_core: t`Signed out of the console`,
        sign_out_of_portal: t`Signed out of the portal`,
        change_email: t`E-mail address changed`,
        end_session: t`Session ended`,
        add_second_factor: t`Second factor added`,
        remove_second_factor: t`Second factor removed`,
        remove_second_factors: t`Second factors of a person removed`,
        create_role: t`Role created`,
        update_role: t`Role changed`,
        delete_role: t`Role deleted`,
        map_roles: t`Roles given to a person`,
        replace_mappings: t`Access of a person changed`,
        create_api_client: t`API client created`,
        delete_api_client: t`API client deleted`,
        change_settings: t`Settings changed`,
        create_organisation: t`Organisation created`,
      },
    },
    {
      title: t`Version 3`,
      actions: {
        create_legacy_role: t`Role of version 3 created`,
        update_legacy_role: t`Role of version 3 changed`,
        delete_legacy_role: t`Role of version 3 deleted`,
        attach_legacy_role: t`Role of version 3 given`,
        reattach_legacy_role: t`Role of version 3 exchanged`,
        detach_legacy_role: t`Role of version 3 taken away`,
        apply_template: t`Stack started`,
        update_template: t`Stack changed`,
        delete_stack: t`Stack deleted`,
        delete_deployment: t`Deployment deleted`,
        report_agent_status: t`State of an agent reported`,
        report_container_status: t`State of a container reported`,
      },
    },
  ];
}

/** The name of an action; one that has none is shown as the service writes it. */
export function useActionText(): (action: string) => string {
  const groups = useActionGroups();
  const texts: Record<string, string> = Object.assign({}, ...groups.map((group) => group.actions));
  return (action) => texts[action] ?? action.replaceAll("_", " ");
}

/** The actions whose names contain the text: the service knows no translated name. */
export function useFindActions(): (text: string) => string[] {
  const groups = useActionGroups();
  return (text) => {
    const searched = text.trim().toLowerCase();
    if (searched === "") return [];
    return groups
      .flatMap((group) => Object.entries(group.actions))
      .filter(([, name]) => name.toLowerCase().includes(searched))
      .map(([action]) => action);
  };
}
