// Says terms in words: one sentence for each question.
import { useLingui } from "@lingui/react/macro";
import type { TermsForm } from "./terms-model.ts";

export interface TermSentences {
  lines: string;
  discount: string;
  support: string;
  agency: string;
  tax: string;
}

export function useTermSentences(): (terms: TermsForm) => TermSentences {
  const { t } = useLingui();
  const supportBase = useSupportBase();
  const agencyBase = useAgencyBase();

  const sayLines = (terms: TermsForm) => {
    if (terms.currency === "jpy")
      return terms.lines === "account"
        ? t`The invoice is in yen, with one line for each account and service.`
        : t`The invoice is in yen, with one line for each tag value and service.`;
    return terms.lines === "account"
      ? t`The invoice is in dollars, with one line for each account and service.`
      : t`The invoice is in dollars, with one line for each tag value and service.`;
  };
  const sayDiscount = (terms: TermsForm) => {
    const rate = terms.discount;
    if (rate === "0") return t`There is no discount.`;
    if (terms.discountsSupport && terms.discountsAgency)
      return t`${rate}% discount on usage, the support fee and the agency fee.`;
    if (terms.discountsSupport) return t`${rate}% discount on usage and the support fee.`;
    if (terms.discountsAgency) return t`${rate}% discount on usage and the agency fee.`;
    return t`${rate}% discount on usage.`;
  };
  const saySupport = (terms: TermsForm) => {
    const base = supportBase(terms);
    switch (terms.support) {
      case "none":
        return t`There is no support fee.`;
      case "percent":
        return t`The support fee is ${terms.supportRate}% of ${base}.`;
      case "fix":
        return t`The support fee is ${terms.supportAmount} in the currency of the costs.`;
      case "aws_developer":
        return t`The support fee is that of the AWS Developer plan on ${base}.`;
      case "aws_business":
        return t`The support fee is that of the AWS Business plan on ${base}.`;
      case "aws_enterprise":
        return t`The support fee is that of the AWS Enterprise plan on ${base}.`;
    }
  };
  const sayAgency = (terms: TermsForm) => {
    const base = agencyBase(terms);
    switch (terms.agency) {
      case "none":
        return t`There is no agency fee.`;
      case "percent":
        return t`The agency fee is ${terms.agencyRate}% of ${base}.`;
      case "fix":
        return t`The agency fee is ${terms.agencyAmount} in the currency of the costs.`;
      case "automatic":
        return t`The agency fee is ${terms.agencyRate}% of ${base}, but at least ${terms.agencyAmount} in the currency of the costs.`;
      case "usagetable":
        return t`The agency fee follows the organisation's table of rates on ${base}.`;
    }
  };
  return (terms) => ({
    lines: sayLines(terms),
    discount: sayDiscount(terms),
    support: saySupport(terms),
    agency:
      terms.agency !== "none" && terms.agencyFor === "account"
        ? `${sayAgency(terms)} ${t`It is calculated for each account and then added up.`}`
        : sayAgency(terms),
    tax:
      terms.tax === "0"
        ? t`There is no consumption tax.`
        : t`${terms.tax}% consumption tax, rounded once per invoice.`,
  });
}

function useAgencyBase(): (terms: TermsForm) => string {
  const { t } = useLingui();
  return ({ agencyBasis, agencyScope }) => {
    if (agencyScope === "cloudpayonly")
      return agencyBasis === "discounted" ? t`usage after discount` : t`usage before discount`;
    return agencyBasis === "discounted"
      ? t`usage and support fee after discount`
      : t`usage and support fee before discount`;
  };
}

function useSupportBase(): (terms: TermsForm) => string {
  const { t } = useLingui();
  return ({ supportUsage, supportBasis, supportScope }) => {
    const all = supportUsage === "allusage";
    const discounted = supportBasis === "discounted";
    if (supportScope === "cloudpayonly") {
      if (all) return discounted ? t`usage after discount` : t`usage before discount`;
      return discounted
        ? t`usage without marketplace after discount`
        : t`usage without marketplace before discount`;
    }
    if (all)
      return discounted
        ? t`usage after discount and one-off fees`
        : t`usage before discount and one-off fees`;
    return discounted
      ? t`usage without marketplace after discount, and one-off fees`
      : t`usage without marketplace before discount, and one-off fees`;
  };
}
