"""Writes the OpenAPI document, from which the types of the web consoles are generated."""

import sys

from nimbill.application.app import create_litestar_app
from nimbill.application.installed import load_settings


def write_openapi_document() -> None:
    """Write the document of the default settings to standard output."""
    sys.stdout.buffer.write(create_litestar_app(load_settings({})).state.build_openapi_document())


if __name__ == "__main__":
    write_openapi_document()
