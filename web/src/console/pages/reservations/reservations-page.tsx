// Reserved instances: who bought them, who holds them, and moves between accounts.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApiPage } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { useListState } from "../../../components/list-state.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useVendors, VendorChoice } from "../../choices.tsx";
import { useMay } from "../../me.ts";
import { MoveDialog } from "./move-dialog.tsx";
import { useReservationColumns } from "./reservation-columns.tsx";
import { ReturnDialog } from "./return-dialog.tsx";

export type Reservation = components["schemas"]["ReservedInstanceRecord"];

export default function ReservationsPage() {
  const { t } = useLingui();
  const may = useMay();
  const control = useListState();
  const vendors = useVendors();
  const size = usePageSize("reservations");
  const [chosen, setChosen] = useState<Reservation>();
  const { state } = control;
  const vendor = control.filter("vendor") || (vendors[0] ?? "");
  const found = useApiPage(
    "/m/core/ri/purchased",
    {
      query: {
        vendor,
        limit: size,
        offset: (state.page - 1) * size,
        search: state.search,
        sort: state.sort === "" ? undefined : `${state.descending ? "-" : ""}${state.sort}`,
        details: true,
      },
    },
    { enabled: vendor !== "" },
  );
  const mayMove = may("ModifyRi") && vendor === "aws";
  const end = () => setChosen(undefined);
  return (
    <>
      <PageTitle title={t`Reserved instances`} />
      <ServerTable
        id="reservations"
        title={t`Reserved instances`}
        description={t`Who bought them and who holds them. A move also moves the fee to the other customer's invoice.`}
        columns={useReservationColumns(mayMove ? setChosen : undefined)}
        rows={found.data?.data}
        total={found.data?.total}
        readAll={found.readAll}
        control={control}
        loading={found.isLoading}
        error={found.error}
        retry={() => found.refetch()}
        rowId={(row) => row.id}
        searchLabel={t`Search by account, customer or type`}
        filters={
          <VendorChoice value={vendor} onChange={(value) => control.setFilter("vendor", value)} />
        }
        empty={<NoReservations vendor={vendor} />}
      />
      {chosen !== undefined && !chosen.remove && <MoveDialog reservation={chosen} onEnd={end} />}
      {chosen?.remove && <ReturnDialog reservation={chosen} onEnd={end} />}
    </>
  );
}

function NoReservations({ vendor }: { vendor: string }) {
  const name = formatVendor(vendor);
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>{name}: no reserved instances</Trans>
      </b>
      <Box color="text-body-secondary">
        <Trans>They appear when imported costs contain their fees.</Trans>{" "}
        <RouterLink to={`/imports?vendor=${vendor}`}>
          <Trans>See imports</Trans>
        </RouterLink>
      </Box>
    </SpaceBetween>
  );
}
