"""Secrets of templates: masked in everything that is stored or shown, and stored encrypted."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from nimbill.database.tenant_scope import Row
from nimbill.foundation import exact_json
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Violation
from nimbill.http.routing import SECRET_FIELDS
from nimbill.legacy.templates.template_rules import MASK

# See docs/choices.md, template-secrets.

# at any depth of a template, in any letter case
SECRET_NAMES = frozenset(
    {
        "cred",
        "gitprivatekey",
        "container_git_private_key",
        "container_registry_password",
        *(name.lower() for name in SECRET_FIELDS),
    }
)

# objects whose keys are the names of environment variables, in any letter case
ENVIRONMENTS = frozenset({"environment_variables", "container_env_vars"})
# a variable is a secret if its name contains one of these, or if its value is an address with a
# password
SECRET_WORDS = ("CRED", "KEY", "PASSPHRASE", "PASSWD", "PASSWORD", "PWD", "SECRET", "TOKEN")
_ADDRESS_WITH_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@")

# secrets by path; a path names a layer by its flag, because layers can change their order
Secrets = dict[str, Any]


def mask_secrets(template: Mapping[str, Any]) -> tuple[dict[str, Any], Secrets]:
    """Return the template with a mask for each secret, and the secrets by path."""
    secrets: Secrets = {}

    def replace_by_mask(path: str, value: Any) -> Any:
        secrets[path] = value
        return MASK

    body: dict[str, Any] = _map_secrets(dict(template), "", replace_by_mask)
    return body, secrets


def restore_secrets(template: Mapping[str, Any], secrets: Mapping[str, Any]) -> dict[str, Any]:
    """Replace each mask by the secret of its path; a mask without a secret stays."""

    def restore(path: str, value: Any) -> Any:
        return secrets.get(path, value) if value == MASK else value

    body: dict[str, Any] = _map_secrets(dict(template), "", restore)
    return body


def wrap_secrets(template: Mapping[str, Any], wrap: Callable[[Any], Any]) -> dict[str, Any]:
    """Wrap each secret, so that it can be compared but not shown."""
    body: dict[str, Any] = _map_secrets(dict(template), "", lambda _, value: wrap(value))
    return body


def find_unresolved_masks(template: Mapping[str, Any]) -> list[Violation]:
    """One violation for each mask that stands for no stored secret."""
    paths: list[str] = []

    def collect(path: str, value: Any) -> Any:
        if value == MASK:
            paths.append(path)
        return value

    _map_secrets(dict(template), "", collect)
    rule = "a value; *** is only for a secret that is already stored"
    return [Violation(field, rule) for field in dict.fromkeys(map(_field_of, paths))]


def _field_of(path: str) -> str:
    """The last name of the path that the caller did not choose; names of variables are chosen."""
    *_, parent, name = path.split("/")
    return parent if parent.lower() in ENVIRONMENTS else name


def encrypt_secrets(
    secrets: Secrets, encryptor: Encryptor, place: tuple[str, str, str]
) -> bytes | None:
    """`place` is organisation, stack and version. None if there are no secrets."""
    if not secrets:
        return None
    own = encryptor.for_organisation(place[0])
    return own.encrypt(exact_json.encode(secrets), _associated_data(place))


def decrypt_secrets(row: Row, encryptor: Encryptor) -> Secrets:
    """The secrets of a stored version; empty if it has none or its stack is deleted."""
    if row.encrypted_secrets is None:
        return {}
    place = (row.organisation_id, row.stack_id, row.version_id)
    decrypted = encryptor.for_organisation(row.organisation_id).decrypt(
        row.encrypted_secrets, _associated_data(place)
    )
    secrets: Secrets = exact_json.decode_stored(decrypted.decode())
    return secrets


def read_template_with_secrets(row: Row, encryptor: Encryptor) -> dict[str, Any]:
    """The template of a stored version with its secrets, for provisioners and agents."""
    return restore_secrets(exact_json.decode_stored(row.body), decrypt_secrets(row, encryptor))


def read_masked_template(row: Row) -> dict[str, Any]:
    """The template of a stored version without its secrets."""
    template: dict[str, Any] = exact_json.decode_stored(row.body)
    return template


def _associated_data(place: tuple[str, str, str]) -> tuple[str, ...]:
    return ("legacy_template_versions", "encrypted_secrets", *place)


def _map_secrets(value: Any, at: str, change: Callable[[str, Any], Any]) -> Any:
    """Copy the value and replace each secret by `change(path, secret)`."""
    if isinstance(value, dict):
        in_environment = at.rpartition("/")[2].lower() in ENVIRONMENTS
        is_secret = _is_secret_variable if in_environment else _is_secret
        return {
            key: change(f"{at}/{escape_key(key)}", item)
            if is_secret(key, item)
            else _map_secrets(item, f"{at}/{escape_key(key)}", change)
            for key, item in value.items()
        }
    if isinstance(value, list):
        names = _name_items(value, at)
        return [
            _map_secrets(item, f"{at}/{name}", change)
            for name, item in zip(names, value, strict=True)
        ]
    return value


def _is_secret(key: str, value: Any) -> bool:
    """Null and an empty string are not secrets."""
    return key.lower() in SECRET_NAMES and value is not None and value != ""


def _is_secret_variable(name: str, value: Any) -> bool:
    """A mask is always one: whether an address has a password cannot be seen behind it."""
    if value is None or value == "":
        return False
    return (
        value == MASK
        or any(word in name.upper() for word in SECRET_WORDS)
        or (isinstance(value, str) and _ADDRESS_WITH_PASSWORD.search(value) is not None)
    )


def _name_items(items: list[Any], at: str) -> list[str]:
    """Layers by their flags, if these are unique strings; other items by their index."""
    flags = [item.get("flag") if isinstance(item, dict) else None for item in items]
    has_flags = at == "/configurations" and all(isinstance(flag, str) for flag in flags)
    if has_flags and len(set(flags)) == len(flags):
        return [escape_key(str(flag)) for flag in flags]
    return [str(index) for index in range(len(items))]


def escape_key(key: str) -> str:
    """Escape slashes as JSON Pointer does (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
