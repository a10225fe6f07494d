"""Signatures follow Standard Webhooks, also in its published examples."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta, timezone

from nimbill.webhooks.signature import build_headers, generate_secret

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT_ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
BODY = b'{"test": 2432232314}'
AT = datetime.fromtimestamp(1614265330, UTC)


def test_the_published_example_has_the_published_signature() -> None:
    assert build_headers(EVENT_ID, AT, BODY, [SECRET]) == {
        "webhook-id": EVENT_ID,
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_the_signature_is_the_hmac_of_id_time_and_body() -> None:
    headers = build_headers(EVENT_ID, AT, BODY, [SECRET])

    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    digest = hmac.digest(key, EVENT_ID.encode() + b".1614265330." + BODY, hashlib.sha256)
    version, signature = headers["webhook-signature"].split(",")
    assert version == "v1"
    assert base64.b64decode(signature) == digest


def test_the_same_instant_in_another_zone_has_the_same_signature() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=9)))

    assert build_headers(EVENT_ID, elsewhere, BODY, [SECRET]) == build_headers(
        EVENT_ID, AT, BODY, [SECRET]
    )


def test_two_secrets_give_two_signatures() -> None:
    other = generate_secret()

    both = build_headers(EVENT_ID, AT, BODY, [other, SECRET])["webhook-signature"].split(" ")

    assert both == [
        build_headers(EVENT_ID, AT, BODY, [secret])["webhook-signature"]
        for secret in (other, SECRET)
    ]
    assert both[0] != both[1]


def test_secrets_have_256_random_bits() -> None:
    secrets = {generate_secret() for _ in range(10)}

    assert len(secrets) == 10
    for secret in secrets:
        assert secret.startswith("whsec_")
        assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
