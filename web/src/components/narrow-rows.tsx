// The rows of a table as cards, one below the other, for the width of a phone.
import Box from "@cloudscape-design/components/box";
import Cards, { type CardsProps } from "@cloudscape-design/components/cards";
import Select from "@cloudscape-design/components/select";
import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ListControl } from "./list-state.ts";
import "./narrow-rows.css";

export interface NarrowColumn<T> {
  id: string;
  header: string;
  cell: (row: T) => ReactNode;
}

interface NarrowRowsProps<T> extends Omit<CardsProps<T>, "cardDefinition" | "cardsPerRow"> {
  /** The first column is the heading of its card. */
  columns: readonly NarrowColumn<T>[];
  footer?: ReactNode;
}

export function NarrowRows<T>({ columns, footer, ...props }: NarrowRowsProps<T>) {
  const [heading, ...others] = columns;
  return (
    <>
      <Cards<T>
        {...props}
        cardsPerRow={[{ cards: 1 }]}
        cardDefinition={{
          header: (row) => heading?.cell(row),
          sections: [
            {
              id: "values",
              content: (row) => (
                <dl className={others.length === 1 ? "card-value" : "card-values"}>
                  {others.map(({ id, header, cell }) => (
                    <div key={id}>
                      <Box variant="awsui-key-label" tagOverride="dt">
                        {header}
                      </Box>
                      <dd>{cell(row)}</dd>
                    </div>
                  ))}
                </dl>
              ),
            },
          ],
        }}
      />
      {footer}
    </>
  );
}

interface OrderChoiceProps {
  columns: readonly { header: string; sort?: string }[];
  control: ListControl;
}

/** Chooses the order of the rows, as the headings of a table do. */
export function OrderChoice({ columns, control }: OrderChoiceProps) {
  const { t } = useLingui();
  const options = columns.flatMap(({ header, sort }) =>
    sort === undefined
      ? []
      : [
          { value: sort, label: t`${header}, ascending` },
          { value: `-${sort}`, label: t`${header}, descending` },
        ],
  );
  const { sort, descending } = control.state;
  const value = descending ? `-${sort}` : sort;
  if (options.length === 0) return null;
  return (
    <Select
      ariaLabel={t`Order`}
      placeholder={t`Order`}
      options={options}
      selectedOption={options.find((option) => option.value === value) ?? null}
      onChange={({ detail }) => {
        const chosen = detail.selectedOption.value ?? "";
        control.change({ sort: chosen.replace(/^-/, ""), descending: chosen.startsWith("-") });
      }}
    />
  );
}
