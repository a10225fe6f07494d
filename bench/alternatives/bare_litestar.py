"""Bare Litestar handlers with the same statements: no token, rules, audit or log."""

import os
from argparse import ArgumentParser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from litestar import Litestar, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, HeaderParameter, JSONBody
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.application.server import HEADER_BYTES_MAX, HEADER_MILLISECONDS
from nimbill.customers.billing_groups import operations, records
from nimbill.customers.billing_groups.bodies import (
    BillingGroupCreate,
    BillingGroupCreated,
    BillingGroupRecord,
)
from nimbill.database.tenant_scope import TenantScope, create_app_engine
from nimbill.http.routing import ExactResponse

DATABASE_URL = "BENCH_DATABASE_URL"
POOL_SIZE = 10

Organisation = Annotated[str, HeaderParameter(name="X-Organisation")]
Transaction = NamedDependency[AsyncConnection]


@get("/m/core/billinggroup")
async def list_billing_groups(
    organisation: Organisation, db: Transaction
) -> list[BillingGroupRecord]:
    return await records.list_billing_groups(db, TenantScope(organisation))


@get("/m/core/billinggroup/{company_id:str}/resource")
async def list_billing_group_details(
    company_id: FromPath[str], organisation: Organisation, db: Transaction
) -> BillingGroupRecord:
    record = await records.find_billing_group(db, TenantScope(organisation), company_id)
    if record is None:
        raise NotFoundException
    return record


@post("/m/core/billinggroup", status_code=200)
async def create_billing_group(
    data: JSONBody[BillingGroupCreate], organisation: Organisation, db: Transaction
) -> BillingGroupCreated:
    company_id = await operations.create_billing_group(db, TenantScope(organisation), data)
    return BillingGroupCreated(company_id=company_id, billinggroup_id=data.billinggroup_id)


def create_app() -> Litestar:
    engine = create_app_engine(os.environ[DATABASE_URL], POOL_SIZE)

    async def transaction() -> AsyncIterator[AsyncConnection]:
        async with engine.begin() as db:
            yield db

    @asynccontextmanager
    async def lifespan(_app: Litestar) -> AsyncIterator[None]:
        yield
        await engine.dispose()

    return Litestar(
        [list_billing_groups, list_billing_group_details, create_billing_group],
        dependencies={"db": Provide(transaction)},
        response_class=ExactResponse,
        lifespan=[lifespan],
        openapi_config=None,
        logging_config=None,
    )


def main() -> None:
    """Uses the server settings of `nimbill serve --workers 1`."""
    parser = ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    Granian(
        "bench.alternatives.bare_litestar:create_app",
        factory=True,
        address="127.0.0.1",
        port=parser.parse_args().port,
        interface=Interfaces.ASGI,
        workers=1,
        http=HTTPModes.http1,
        websockets=False,
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_MILLISECONDS, max_buffer_size=HEADER_BYTES_MAX
        ),
        log_level=LogLevels.warning,
    ).serve()


if __name__ == "__main__":
    main()
