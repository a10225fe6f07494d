"""Tokens for API clients, beside the usual Django way; and what the gate costs a request."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from bench.example_groups import make_example
from bench.load import Plan
from bench.others import django_oauth
from bench.processes import Load, Server, load_process, server
from bench.rounds import Contender, Suite
from bench.suites.serving import ours
from nimbill.database.embedded_postgres import embedded_postgres, superuser_address
from nimbill.foundation.encryption import load_or_create_key

OURS = "nimbill"
DJANGO = "django-oauth-toolkit"
DJANGO_PLAIN = "… with unhashed secrets"

WHAT = {
    OURS: "the service itself, `nimbill serve --workers 1`: ES256 tokens, a rotating refresh token",
    DJANGO: "Django and django-oauth-toolkit as they come, one gunicorn worker of 8 threads",
    DJANGO_PLAIN: "the same with client secrets kept in clear, which saves it its slow hash",
}
CASE = "client_credentials token"
CONNECTIONS = 8
WARM_SECONDS = 0.5

Form = Mapping[str, str]


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """Servers of one worker each on one PostgreSQL, and one load process for them all."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        url = stack.enter_context(embedded_postgres(folder / "postgres")).url
        example = make_example(url, load_or_create_key(folder / "key"), folder / "postgres")
        load = stack.enter_context(load_process())
        mine, _ = stack.enter_context(ours(folder, url))
        form = {
            "grant_type": "client_credentials",
            "client_id": example.writing[0].client_id,
            "client_secret": example.writing[0].client_secret,
            "scope": "openid",
        }
        others = {
            name: stack.enter_context(django(folder, hashed=hashed))
            for name, hashed in ((DJANGO, True), (DJANGO_PLAIN, False))
        }
        yield [
            Contender(OURS, WHAT[OURS], _measure(load, mine, "/core/access_token", form)),
            *(
                Contender(name, WHAT[name], _measure(load, to, "/o/token/", django_oauth.FORM))
                for name, to in others.items()
            ),
        ]


@contextmanager
def django(folder: Path, *, hashed: bool) -> Iterator[Server]:
    address = superuser_address(folder / "postgres")
    settings = {
        django_oauth.HOST: address.host,
        django_oauth.DATABASE_PORT: str(address.port),
        django_oauth.USER: address.user,
        django_oauth.PASSWORD: address.password,
        django_oauth.HASHED: "yes" if hashed else "no",
    }
    log = folder / f"django-{hashed}.log"
    with server(["-m", django_oauth.__name__], settings, log) as running:
        yield running


def _measure(load: Load, to: Server, path: str, form: Form) -> Callable[[str, float], float]:
    def measure(_case: str, seconds: float) -> float:
        plan = Plan(
            port=to.port,
            method="POST",
            path=path,
            headers=[{"Content-Type": "application/x-www-form-urlencoded"}] * CONNECTIONS,
            body=urlencode(form),
            seconds=seconds,
            warm_seconds=WARM_SECONDS,
        )
        return load.put_on(plan).rate

    return measure


SUITE = Suite(
    name="tokens",
    what="tokens issued to API clients, per worker",
    unit="tokens/s",
    cases=(CASE,),
    ours=OURS,
    # as it comes is what one would pick; the other shows how much of it is the hash of a secret
    aims={DJANGO: 5.0},
    slice_seconds=3,
    contenders=contenders,
)
