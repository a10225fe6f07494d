"""Many machines create the invoices of one machine, although one of each kind is killed.

`make test-cluster` runs this file. Two service processes stand behind a proxy; a Spark cluster with
two workers converts the delivery and sums it; the delivery and the lake are in an object store. The
reference is one service process with DuckDB and a folder.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from nimbill.database.embedded_postgres import embedded_postgres, superuser_address
from tests.cluster.month_end_over_http import MonthEndOverHttp
from tests.cluster.spark_cluster import SparkCluster, spark_cluster
from tests.cluster.tcp_proxy import TcpProxy, tcp_proxy
from tests.costs.object_store_server import ObjectStore, object_store
from tests.imports.aws_reports import COLUMNS
from tests.proof.real_server import RealServer, children, nimbill, real_server
from tests.temporary_database import execute_sql

PARTS, LINES_PER_PART = 12, 20_000
GROUPS = 400
SERVICES = ("AmazonEC2", "AmazonS3", "AmazonRDS", "AWSLambda", "AmazonVPC")
SEED = 20260901
STORE_AWAY_SECONDS = 8
WAIT_SECONDS_MAX = 600
BILLS, LAKE = "bills", "lake"
RUNS_UNDER_WAY = """
SELECT count(DISTINCT run_id) FROM invoice_runs JOIN invoice_revisions USING (run_id)
WHERE state = 'running'
"""


@dataclass
class Machines:
    """Everything that can be killed, and what tells how far the work has come."""

    proxy: TcpProxy  # in front of the services
    services: list[RealServer]
    cluster: SparkCluster
    store: ObjectStore
    store_proxy: TcpProxy
    postgres_folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return self.services[0].environment

    def list_lake(self, organisation_id: str) -> list[str]:
        listed = self.store.client.list_objects_v2(Bucket=LAKE, Prefix=organisation_id)
        keys = [item["Key"] for item in listed.get("Contents", [])]
        return [key for key in keys if key.endswith(".parquet")]

    def count_runs_under_way(self) -> int:
        """Count the runs that have created some of their invoices."""
        ((count,),) = execute_sql(superuser_address(self.postgres_folder), RUNS_UNDER_WAY)
        return int(count)

    def kill_service(self) -> None:
        """Kill the second machine's processes at once, as a power cut would."""
        process = self.services[1].process
        for pid in [process.pid, *children(process.pid)]:
            os.kill(pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as stack:
        store = stack.enter_context(object_store())
        store_proxy, proxy = stack.enter_context(tcp_proxy()), stack.enter_context(tcp_proxy())
        store_proxy.add_server(int(store.endpoint.rpartition(":")[2]))
        for bucket in (BILLS, LAKE):
            store.bucket(bucket)
        reached = ObjectStore(f"127.0.0.1:{store_proxy.port}", store.client)
        cluster = stack.enter_context(spark_cluster(tmp_path / "spark", workers=2))
        database = stack.enter_context(embedded_postgres(tmp_path / "postgres"))
        environment = {
            "NIMBILL_DATABASE_URL": database.url,
            "NIMBILL_KEY_FILE": str(tmp_path / "key"),
            "NIMBILL_BASE_URL": f"http://127.0.0.1:{proxy.port}",
            "NIMBILL_LAKE_URL": reached.address(LAKE),
            "NIMBILL_IMPORT_ROOTS": reached.address(f"{BILLS}/{{organisation}}"),
            "NIMBILL_ENGINE": "spark",
            "NIMBILL_SPARK_MASTER": cluster.address,
            "NIMBILL_RATE_LIMIT": "0",
        }
        services = []
        for number in (1, 2):
            data = tmp_path / f"machine-{number}"
            services.append(stack.enter_context(real_server(data, environment, workers=1)))
            proxy.add_server(services[-1].port)
        yield Machines(proxy, services, cluster, store, store_proxy, tmp_path / "postgres")


# ── the month ────────────────────────────────────────────────────────────────────────────────────


def build_part(number: int) -> bytes:
    """Lines of all groups in random order, with costs of up to 10 decimals."""
    random, text = Random(SEED + number), io.StringIO()
    writer = csv.DictWriter(text, list(COLUMNS))
    writer.writeheader()
    for _ in range(LINES_PER_PART):
        writer.writerow(
            {
                **COLUMNS,
                "lineItem/UsageAccountId": f"{random.randrange(GROUPS):012}",
                "lineItem/ProductCode": random.choice(SERVICES),
                "lineItem/UsageStartDate": f"2026-09-{random.randrange(1, 31):02}T10:00:00Z",
                "lineItem/UnblendedCost": f"{random.randrange(10**11)}e-10",
                "resourceTags/user:Team": f"team {random.randrange(20)}",
            }
        )
    return gzip.compress(text.getvalue().encode(), mtime=0)


def invoice_on_one_machine(folder: Path, parts: list[bytes]) -> dict[str, Any]:
    with real_server(folder, {"NIMBILL_RATE_LIMIT": "0"}, workers=1) as server:
        organisation = server.init()
        inbox = folder / "inbox" / organisation["organisation_id"]
        inbox.mkdir(parents=True)
        for number, part in enumerate(parts):
            (inbox / f"cur-{number:05}.csv.gz").write_bytes(part)
        month_end = MonthEndOverHttp(server.url, server.token(organisation))
        groups = month_end.create_groups(GROUPS)
        imported = month_end.wait_for_import(month_end.start_import("."))
        assert (imported["state"], imported["lines"]) == ("done", PARTS * LINES_PER_PART), imported
        month_end.save_terms(list(groups.values()))
        month_end.create_invoices(list(groups.values()), "all")
        return {
            name: month_end.get_invoice(company_id)["sheet"] for name, company_id in groups.items()
        }


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ── the test ─────────────────────────────────────────────────────────────────────────────────────


def test_many_machines_create_the_invoices_of_one(machines: Machines, tmp_path: Path) -> None:
    parts = [build_part(number) for number in range(PARTS)]
    expected = invoice_on_one_machine(tmp_path / "one", parts)

    organisation = machines.services[0].init()
    token = machines.services[0].token(organisation)
    month_end = MonthEndOverHttp(f"http://127.0.0.1:{machines.proxy.port}", token)
    groups = month_end.create_groups(GROUPS)
    import_on_cluster(machines, month_end, organisation["organisation_id"], parts)
    month_end.save_terms(list(groups.values()))
    create_on_both(machines, month_end, list(groups.values()))

    invoices = {name: month_end.get_invoice(company_id) for name, company_id in groups.items()}
    assert {name: invoice["sheet"] for name, invoice in invoices.items()} == expected
    assert len({invoice["invoice_no"] for invoice in invoices.values()}) == GROUPS
    assert {invoice["revision"] for invoice in invoices.values()} == {1}
    # DuckDB sums the lake again, and the result equals the sums that Spark stored
    environment = {**machines.environment, "NIMBILL_ENGINE": "duckdb"}
    for command in ("lake", "audit"):
        verified = nimbill(
            command, "verify", "--organisation", "Proof", env=environment, seconds_max=600
        )
        assert verified.returncode == 0, verified.stdout + verified.stderr


def import_on_cluster(
    machines: Machines, month_end: MonthEndOverHttp, organisation_id: str, parts: list[bytes]
) -> None:
    """Kill a worker after the first parts, and take the object store away after some more."""
    for number, part in enumerate(parts):
        machines.store.put(BILLS, f"{organisation_id}/cur/cur-{number:05}.csv.gz", part)
    import_id = month_end.start_import(f"s3://{BILLS}/{organisation_id}/cur")

    wait_until(lambda: len(machines.list_lake(organisation_id)) >= 2)
    machines.cluster.kill_worker()
    wait_until(lambda: len(machines.list_lake(organisation_id)) >= 4)
    machines.store_proxy.interrupt()
    time.sleep(STORE_AWAY_SECONDS)
    assert month_end.get_import(import_id)["state"] == "running"
    machines.store_proxy.resume()

    imported = month_end.wait_for_import(import_id)
    assert (imported["state"], imported["lines"]) == ("done", PARTS * LINES_PER_PART), imported
    assert len(machines.list_lake(organisation_id)) == PARTS


def create_on_both(machines: Machines, month_end: MonthEndOverHttp, company_ids: list[str]) -> None:
    """Let each machine create half of the invoices, and kill one when some exist."""
    halves = company_ids[::2], company_ids[1::2]
    with ThreadPoolExecutor(2) as pool:
        creations = [
            pool.submit(month_end.create_invoices, half, f"half-{number}")
            for number, half in enumerate(halves)
        ]
        wait_until(lambda: machines.count_runs_under_way() == 2 or any(map(Future.done, creations)))
        machines.kill_service()
        assert machines.count_runs_under_way() > 0
        created = [creation.result() for creation in creations]
    assert [len(each["created"]) for each in created] == [len(half) for half in halves]
