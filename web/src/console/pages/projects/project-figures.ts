// The figures of a project for one vendor, or for all.
import type { components } from "../../../api/schema.ts";
import type { ProjectProfit } from "./projects-page.tsx";

type Figures = components["schemas"]["ProjectFigures"];

export function readFigures({ amount }: ProjectProfit, vendor: string): Figures | undefined {
  if (vendor === "") return amount.total;
  if (vendor === "aws" || vendor === "azure") return amount[vendor];
  return amount.other_vendors?.[vendor];
}
