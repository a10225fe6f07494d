"""Client-credentials tokens by django-oauth-toolkit behind gunicorn."""

import os
from argparse import ArgumentParser
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connections
from gunicorn.app.base import BaseApplication

HOST = "BENCH_HOST"
DATABASE_PORT = "BENCH_DATABASE_PORT"
USER = "BENCH_USER"
PASSWORD = "BENCH_PASSWORD"
HASHED = "BENCH_HASHED"

THREADS = 8
FORM = {
    "grant_type": "client_credentials",
    "client_id": "bench-client",
    "client_secret": "bench-secret-of-forty-three-random-characters",
    "scope": "read",
}


def configure(database: str) -> None:
    settings.configure(
        SECRET_KEY="only for this benchmark, on this machine",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "oauth2_provider",
        ],
        # Sets Content-Length.
        MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": database,
                "HOST": os.environ[HOST],
                "PORT": os.environ[DATABASE_PORT],
                "USER": os.environ[USER],
                "PASSWORD": os.environ[PASSWORD],
                "CONN_MAX_AGE": None,
            }
        },
        OAUTH2_PROVIDER={"SCOPES": {"read": "read"}},
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    )
    django.setup()


def create_database(name: str) -> None:
    """Connects to an existing database first; CREATE DATABASE must run outside a transaction."""
    with connections["default"].cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    connections["default"].close()
    connections["default"].settings_dict["NAME"] = name
    call_command("migrate", verbosity=0)


def create_client(*, hashed: bool) -> None:
    from oauth2_provider.models import Application

    Application.objects.create(
        name="bench",
        client_id=FORM["client_id"],
        client_secret=FORM["client_secret"],
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS,
        hash_client_secret=hashed,
    )


def build_urlpatterns() -> list[Any]:
    from django.urls import path
    from oauth2_provider.views import TokenView

    return [path("o/token/", TokenView.as_view())]


class GunicornServer(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """One worker process, like the other servers."""

    def __init__(self, port: int) -> None:
        self._port = port
        super().__init__()

    def load_config(self) -> None:
        options = {
            "bind": f"127.0.0.1:{self._port}",
            "workers": 1,
            "threads": THREADS,
            "worker_class": "gthread",
            "keepalive": 60,
            "loglevel": "warning",
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return get_wsgi_application()


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    hashed = os.environ[HASHED] == "yes"
    configure("postgres")
    create_database("django_hashed" if hashed else "django_plain")
    create_client(hashed=hashed)
    connections.close_all()
    globals()["urlpatterns"] = build_urlpatterns()
    GunicornServer(port).run()


if __name__ == "__main__":
    main()
