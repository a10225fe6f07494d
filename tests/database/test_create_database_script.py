"""deploy/create-database.sh creates an owner that is subject to row-level security."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

from nimbill.database.embedded_postgres import Address
from nimbill.database.embedded_postgres.binaries import bin_folder
from tests.temporary_database import execute_sql

SCRIPT = Path(__file__).parents[2] / "deploy" / "create-database.sh"
# The script of a container names `nimbill`, which exists here.
OWNER = "owner_of_script"
RIGHTS = """
SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user
"""


def test_the_owner_can_log_in_and_create_roles_but_is_no_superuser(superuser: Address) -> None:
    password = "quote ' and $HOME"
    script = SCRIPT.read_text().replace("ROLE nimbill", f"ROLE {OWNER}")
    script = script.replace("DATABASE nimbill OWNER nimbill", f"DATABASE {OWNER} OWNER {OWNER}")
    environment = {
        "PATH": f"{bin_folder()}:{os.environ['PATH']}",
        "PGHOST": superuser.host,
        "PGPORT": str(superuser.port),
        "PGPASSWORD": superuser.password,
        "POSTGRES_USER": superuser.user,
        "OWNER_PASSWORD": password,
    }
    owner = replace(superuser, user=OWNER, password=password, database=OWNER)

    try:
        subprocess.run(["sh", "-c", script], env=environment, check=True, timeout=60)
        (rights,) = execute_sql(owner, RIGHTS)
        ((encoding,),) = execute_sql(owner, "SHOW server_encoding")
    finally:
        execute_sql(superuser, f"DROP DATABASE IF EXISTS {OWNER}")
        execute_sql(superuser, f"DROP ROLE IF EXISTS {OWNER}")

    assert tuple(rights) == (False, False, True, False)
    assert encoding == "UTF8"
