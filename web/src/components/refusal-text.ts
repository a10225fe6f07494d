// The reasons for which the service refuses a request, by their code.
import { useLingui } from "@lingui/react/macro";

/** What is wrong and what to do; undefined for a code that people do not meet on the pages. */
export function useRefusalText(): (code: string) => string | undefined {
  const { t } = useLingui();
  const texts: Record<string, string> = {
    entry_applied: t`An entry is applied already, to another month or at another rate. Undo it first.`,
    entry_without_group: t`The account of an entry belongs to no customer. Assign the account first.`,
    month_before_entry: t`An entry cannot be applied to a month before its own.`,
    too_few_remain: t`Fewer instances remain with the buyer.`,
    reservation_of_customer: t`This account holds the reserved instances already.`,
    month_open: t`This month is not closed.`,
    month_closed: t`This month is closed. Reopen it, or use a later month.`,
    month_parked: t`An import of this month is on hold. Release it or import corrected files first.`,
    month_not_ready: t`This month cannot be closed yet. The steps of the month show what is missing.`,
    billinggroup_id_taken: t`Another customer has this id.`,
    billing_group_in_use: t`This customer still has accounts, portal logins or invoices.`,
    customer_id_taken: t`Another account has this number.`,
    account_holds_reservation: t`Reserved instances were moved to this account. Return them first.`,
    invoice_template_in_use: t`A customer or the organisation uses this template.`,
    vendor_in_use: t`A vendor with accounts, costs or invoices cannot be removed.`,
    vendor_disabled: t`This vendor is not enabled. Add it in the settings first.`,
    project_code_taken: t`Another project has this code.`,
    project_in_use: t`Customers belong to this project. Move them to another one first.`,
    email_taken: t`This e-mail address is already in use.`,
    username_taken: t`This user name is already in use.`,
    role_name_taken: t`Another role has this name.`,
    root_user: t`The first user of the organisation cannot be deleted.`,
    role_above: t`This role has permissions that you do not have.`,
    grants_more: t`You cannot give permissions that you do not have.`,
    maps_more: t`You cannot give roles or customers that you do not have.`,
    holds_more: t`This person has permissions that you do not have.`,
    narrowed_caller: t`Only people who see all customers can do this.`,
    not_parked: t`This import is no longer on hold.`,
    too_many_imports: t`Too many imports are unfinished. Try again when some have ended.`,
    no_invoices: t`This month has no invoices. Create them first.`,
    nothing_imported: t`No costs were imported for this month.`,
    malformed_body: t`The file or form cannot be read.`,
    read_only_view: t`This is a view of the customer's portal, in which nothing can be changed.`,
    personal_page: t`A view of the portal does not show this.`,
    no_portal_login: t`This customer has no portal login. Add one first.`,
    last_second_factor: t`Your organisation requires a second factor. Add another one before you remove this.`,
    too_many_second_factors: t`You have 10 second factors. Remove one that you no longer use.`,
    passkeys_unavailable: t`Passkeys need an address with a host name, and this service has none. Use an authenticator app.`,
    passkey_taken: t`This passkey is registered already.`,
    registration_invalid: t`This registration has expired. Begin again.`,
    session_required: t`Sign in again to do this.`,
    rule_broken: t`Some values are not right.`,
  };
  return (code) => texts[code];
}
