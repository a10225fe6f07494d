"""The same endpoints with FastAPI, pydantic, SQLAlchemy ORM, PyJWT and uvicorn."""

import os
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated
from uuid import uuid4

import jwt
import uvicorn
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import joinedload, selectinload

from bench.alternatives.fastapi_bodies import (
    BillingGroupCreatedOut,
    BillingGroupIn,
    BillingGroupOut,
)
from bench.alternatives.orm_records import BillingGroupRow, InvoiceSettingRow, UserRow

DATABASE_URL = "BENCH_DATABASE_URL"
PUBLIC_KEY = "BENCH_PUBLIC_KEY"
ISSUER = "http://127.0.0.1/core"
AUDIENCE = "core"

bearer = HTTPBearer()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    engine = create_async_engine(os.environ[DATABASE_URL], pool_size=10, max_overflow=10)
    app.state.sessions = async_sessionmaker(engine, expire_on_commit=False)
    app.state.public_key = load_pem_public_key(os.environ[PUBLIC_KEY].encode())
    yield
    await engine.dispose()


app = FastAPI(lifespan=lifespan)


async def get_session(request: Request) -> AsyncIterator[AsyncSession]:
    async with request.app.state.sessions() as session:
        yield session


Session = Annotated[AsyncSession, Depends(get_session)]


async def get_current_user(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials, Depends(bearer)],
    session: Session,
) -> UserRow:
    try:
        claims = jwt.decode(
            credentials.credentials,
            request.app.state.public_key,
            algorithms=["ES256"],
            audience=AUDIENCE,
            issuer=ISSUER,
        )
    except jwt.PyJWTError as error:
        raise HTTPException(401, "invalid token") from error
    user = await session.get(UserRow, (claims["tid"], claims["sub"]))
    if user is None:
        raise HTTPException(401, "invalid token")
    return user


CurrentUser = Annotated[UserRow, Depends(get_current_user)]

EAGER_LOADING = (
    selectinload(BillingGroupRow.settings),
    selectinload(BillingGroupRow.items),
    selectinload(BillingGroupRow.account),
    joinedload(BillingGroupRow.project),
)


@app.get("/m/core/billinggroup", response_model=list[BillingGroupOut])
async def list_billing_groups(user: CurrentUser, session: Session) -> Sequence[BillingGroupRow]:
    groups = await session.scalars(
        select(BillingGroupRow)
        .where(BillingGroupRow.organisation_id == user.organisation_id)
        .options(*EAGER_LOADING)
        .order_by(BillingGroupRow.billinggroup_id)
    )
    return groups.all()


@app.get("/m/core/billinggroup/{company_id}/resource", response_model=BillingGroupOut)
async def get_billing_group(
    company_id: str, user: CurrentUser, session: Session
) -> BillingGroupRow:
    group = await session.get(
        BillingGroupRow, (user.organisation_id, company_id), options=EAGER_LOADING
    )
    if group is None:
        raise HTTPException(404, "not found")
    return group


@app.post("/m/core/billinggroup")
async def create_billing_group(
    body: BillingGroupIn, user: CurrentUser, session: Session
) -> BillingGroupCreatedOut:
    is_used = exists().where(
        BillingGroupRow.organisation_id == user.organisation_id,
        BillingGroupRow.billinggroup_id == body.billinggroup_id,
    )
    if await session.scalar(select(is_used)):
        raise HTTPException(409, "this billinggroup_id is already in use")
    group = BillingGroupRow(
        organisation_id=user.organisation_id,
        company_id=f"cmp_{uuid4().hex}",
        **body.model_dump(exclude={"invoices"}),
        settings=[
            InvoiceSettingRow(
                vendor=vendor,
                **setting.model_dump(),
                substitution_basis=setting.substitution_fee_calc_target,
                substitution_scope=setting.substitution_fee_target_usage,
                support_basis=setting.support_fee_calc_target,
            )
            for vendor, setting in (body.invoices or {}).items()
        ],
    )
    session.add(group)
    await session.commit()
    return BillingGroupCreatedOut(
        company_id=group.company_id, billinggroup_id=group.billinggroup_id
    )


def main() -> None:
    """One worker with uvloop and httptools; without access log, which makes it faster."""
    parser = ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    uvicorn.run(app, port=parser.parse_args().port, access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
