"""`nimbill serve`: serve the API."""

import asyncio
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from nimbill.application import server
from nimbill.application.database_watch import DatabaseLost, watch_database
from nimbill.application.open_database import open_database, prepare_installation
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import Port, exit_with_error, print_text

DATABASE_LOST = 1  # exit code; a supervisor should start the server again

Workers = Annotated[int, Parameter(validator=Number(gte=1, lte=256))]


def serve(*, host: str = "127.0.0.1", port: Port = 8080, workers: Workers = 2) -> None:
    """Serve the API until SIGTERM or Ctrl-C.

    An embedded database that dies is restarted; exit code 1 if that fails.

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0 listens on every address of the machine.
    port
        Port to listen on.
    workers
        Number of worker processes; one per processor is a good start.
    """
    settings = load_command_settings()
    server.refuse_port_in_use(host, port)
    with open_database(settings) as url:
        asyncio.run(prepare_installation(url, settings.key_file))
        try:
            with watch_database(settings):
                server.serve(
                    host=host,
                    port=port,
                    workers=workers,
                    database_url=url,
                    data=settings.data,
                    when_ready=_print_address,
                )
        except DatabaseLost as error:
            exit_with_error(DATABASE_LOST, str(error))


def _print_address(address: str) -> None:
    print_text(f"Nimbill is running at {address} (API page: {address}/docs)")
