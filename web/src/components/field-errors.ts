// Which rules of a refused request each field of a form breaks.
import type { ApiError } from "../api/client.ts";

interface Violation {
  field: string;
  rule: string;
}

export function readViolations(error: ApiError | null): Violation[] {
  const violations = error?.problem.violations;
  return Array.isArray(violations) ? (violations as Violation[]) : [];
}

/** The rules that a field or a part of it breaks; empty if there are none. */
export function fieldError(error: ApiError | null, field: string): string {
  return readViolations(error)
    .filter(({ field: name }) => name === field || name.startsWith(`${field}[`))
    .map(({ rule }) => rule)
    .join("; ");
}
