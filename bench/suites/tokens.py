"""Tokens for API clients, compared with django-oauth-toolkit."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from bench.alternatives import django_oauth
from bench.example_groups import create_example_groups
from bench.load import LoadPlan
from bench.processes import BenchServer, LoadGenerator, start_load_generator, start_server
from bench.rounds import Contender, Measure, Suite
from bench.suites.serving import start_nimbill
from nimbill.database.embedded_postgres import embedded_postgres, superuser_address
from nimbill.foundation.encryption import load_or_create_key

OURS = "nimbill"
DJANGO = "django-oauth-toolkit"
DJANGO_UNHASHED = "… with unhashed secrets"

DESCRIPTIONS = {
    OURS: "`nimbill serve --workers 1`: ES256 tokens and a rotating refresh token",
    DJANGO: "Django and django-oauth-toolkit with defaults, one gunicorn worker with 8 threads",
    DJANGO_UNHASHED: "the same with unhashed client secrets, which avoids a slow hash per request",
}
CASE = "client_credentials token"
CONNECTIONS = 8
WARMUP_SECONDS = 0.5

Form = Mapping[str, str]


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """Servers with one worker each on one PostgreSQL, and one load generator."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        url = stack.enter_context(embedded_postgres(folder / "postgres")).url
        example = create_example_groups(
            url, load_or_create_key(folder / "key"), folder / "postgres"
        )
        load = stack.enter_context(start_load_generator())
        nimbill, _ = stack.enter_context(start_nimbill(folder, url))
        form = {
            "grant_type": "client_credentials",
            "client_id": example.writers[0].client_id,
            "client_secret": example.writers[0].client_secret,
            "scope": "openid",
        }
        django_servers = {
            name: stack.enter_context(start_django(folder, hashed=hashed))
            for name, hashed in ((DJANGO, True), (DJANGO_UNHASHED, False))
        }
        yield [
            Contender(
                OURS, DESCRIPTIONS[OURS], _measure(load, nimbill, "/core/access_token", form)
            ),
            *(
                Contender(
                    name, DESCRIPTIONS[name], _measure(load, server, "/o/token/", django_oauth.FORM)
                )
                for name, server in django_servers.items()
            ),
        ]


@contextmanager
def start_django(folder: Path, *, hashed: bool) -> Iterator[BenchServer]:
    address = superuser_address(folder / "postgres")
    settings = {
        django_oauth.HOST: address.host,
        django_oauth.DATABASE_PORT: str(address.port),
        django_oauth.USER: address.user,
        django_oauth.PASSWORD: address.password,
        django_oauth.HASHED: "yes" if hashed else "no",
    }
    log = folder / f"django-{hashed}.log"
    with start_server(["-m", django_oauth.__name__], settings, log) as server:
        yield server


def _measure(load: LoadGenerator, server: BenchServer, path: str, form: Form) -> Measure:
    def measure(_case: str, seconds: float) -> float:
        plan = LoadPlan(
            port=server.port,
            method="POST",
            path=path,
            headers=[{"Content-Type": "application/x-www-form-urlencoded"}] * CONNECTIONS,
            body=urlencode(form),
            seconds=seconds,
            warmup_seconds=WARMUP_SECONDS,
        )
        return load.run(plan).rate

    return measure


SUITE = Suite(
    name="tokens",
    description="tokens issued to API clients, per worker",
    unit="tokens/s",
    cases=(CASE,),
    baseline=OURS,
    roles={DJANGO: "instead", DJANGO_UNHASHED: "variant"},
    # Only the default configuration has a target; the other shows the cost of the hash.
    targets={DJANGO: 5.0},
    slice_seconds=3,
    contenders=contenders,
    rounds=3,
    minutes=1,
    summary_case=CASE,
)
