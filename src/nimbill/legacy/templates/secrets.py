"""Secrets of templates: taken out before anything is stored or shown, sealed, and put back."""

from collections.abc import Callable, Mapping
from typing import Any

from nimbill.database.tenant_scope import Row
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Violation
from nimbill.http.routing import SECRET_FIELDS
from nimbill.legacy.templates.template_rules import MASK

basis = chosen("template-secrets")

# wherever in a template they stand, and however their letters are written
SECRET_NAMES = frozenset(
    {
        "cred",
        "gitprivatekey",
        "container_git_private_key",
        *(name.lower() for name in SECRET_FIELDS),
    }
)

# places of secrets by path; a layer is named by its flag, since layers may change their order
Secrets = dict[str, Any]


def masked(template: Mapping[str, Any]) -> tuple[dict[str, Any], Secrets]:
    """The template with its secrets replaced, and the secrets by their places."""
    secrets: Secrets = {}

    def take(at: str, value: Any) -> Any:
        secrets[at] = value
        return MASK

    body: dict[str, Any] = _each_secret(dict(template), "", take)
    return body, secrets


def unmasked(template: Mapping[str, Any], secrets: Mapping[str, Any]) -> dict[str, Any]:
    """The template with what is known put where the mask stands; unknown ones stay masked."""

    def put_back(at: str, value: Any) -> Any:
        return secrets.get(at, value) if value == MASK else value

    body: dict[str, Any] = _each_secret(dict(template), "", put_back)
    return body


def with_hidden_secrets(template: Mapping[str, Any], hide: Callable[[Any], Any]) -> dict[str, Any]:
    """The template with each secret wrapped, so that it can be compared and not be shown."""
    body: dict[str, Any] = _each_secret(dict(template), "", lambda _, value: hide(value))
    return body


def still_masked(template: Mapping[str, Any]) -> list[Violation]:
    """Secrets sent back as they were shown, where there is nothing to keep."""
    places: list[str] = []

    def note(at: str, value: Any) -> Any:
        if value == MASK:
            places.append(at)
        return value

    _each_secret(dict(template), "", note)
    rule = "a value: *** keeps one that is stored, and here is none"
    # the names on the way are the caller's: only the secret's own is said
    return [Violation(at.rpartition("/")[2], rule) for at in dict.fromkeys(places)]


def sealed(secrets: Secrets, encryptor: Encryptor, place: tuple[str, str, str]) -> bytes | None:
    """`place` is organisation, stack and version; None where there are no secrets."""
    if not secrets:
        return None
    own = encryptor.for_organisation(place[0])
    return own.encrypt(exact_json.write(secrets), _place(place))


def secrets_of(row: Row, encryptor: Encryptor) -> Secrets:
    """Of a stored version; none once its stack is gone and they were wiped."""
    if row.sealed_secrets is None:
        return {}
    place = (row.organisation_id, row.stack_id, row.version_id)
    opened_bytes = encryptor.for_organisation(row.organisation_id).decrypt(
        row.sealed_secrets, _place(place)
    )
    secrets: Secrets = exact_json.read_own(opened_bytes.decode())
    return secrets


def opened(row: Row, encryptor: Encryptor) -> dict[str, Any]:
    """The template of a stored version with its secrets in clear: for launching, for its agent."""
    return unmasked(exact_json.read_own(row.body), secrets_of(row, encryptor))


def shown(row: Row) -> dict[str, Any]:
    """The template of a stored version as everybody may see it."""
    template: dict[str, Any] = exact_json.read_own(row.body)
    return template


def _place(place: tuple[str, str, str]) -> tuple[str, ...]:
    return ("legacy_template_versions", "sealed_secrets", *place)


def _each_secret(value: Any, at: str, change: Callable[[str, Any], Any]) -> Any:
    """A copy of the value in which every secret is what `change` makes of it."""
    if isinstance(value, dict):
        return {
            key: change(f"{at}/{step(key)}", item)
            if _is_secret(key, item)
            else _each_secret(item, f"{at}/{step(key)}", change)
            for key, item in value.items()
        }
    if isinstance(value, list):
        names = _names_of(value, at)
        return [
            _each_secret(item, f"{at}/{name}", change)
            for name, item in zip(names, value, strict=True)
        ]
    return value


def _is_secret(key: str, value: Any) -> bool:
    """Null and an empty text hide nothing."""
    return key.lower() in SECRET_NAMES and value is not None and value != ""


def _names_of(items: list[Any], at: str) -> list[str]:
    """Layers by their flags, where these are what they should be; all else by its index."""
    flags = [item.get("flag") if isinstance(item, dict) else None for item in items]
    sound = at == "/configurations" and all(isinstance(flag, str) for flag in flags)
    if sound and len(set(flags)) == len(flags):
        return [step(str(flag)) for flag in flags]
    return [str(index) for index in range(len(items))]


def step(key: str) -> str:
    """As in JSON pointers: a slash in a key does not part it."""
    return key.replace("~", "~0").replace("/", "~1")
