"""POST /m/core/reseller: the display flags"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.resellers.meta_flags import FLAGS
from tests.answers import violations_of
from tests.customers.resellers.accounts import create, listed, the_one
from tests.running_service import Service


def test_flags_that_are_not_sent_get_their_default(service: Service, company: str) -> None:
    create(service, company, meta={})

    assert the_one(service)["meta"] == dict(FLAGS)


@pytest.mark.parametrize("value", [True, False])
def test_every_flag_may_be_sent(service: Service, company: str, value: bool) -> None:
    assert create(service, company, meta=dict.fromkeys(FLAGS, value)).status_code == 200

    assert the_one(service)["meta"] == dict.fromkeys(FLAGS, value)


def test_a_flag_that_is_sent_changes_no_other(service: Service, company: str) -> None:
    create(service, company, meta={"invoice": True, "usage_tag": False, "aq_link": True})

    expected = {**FLAGS, "invoice": True, "usage_tag": False, "aq_link": True}
    assert the_one(service)["meta"] == expected


@pytest.mark.parametrize(
    "name", ["unheard_of", "", "Invoice", "INVOICE", "invoice ", "canary-7c1f", "__proto__"]
)
def test_an_unknown_flag_is_refused_and_not_repeated(
    service: Service, company: str, name: str
) -> None:
    answer = create(service, company, meta={"invoice": True, name: True})

    assert violations_of(answer) == [("meta", "known flags only")]
    assert listed(service) == []


@pytest.mark.parametrize("value", ["true", 1, 0, None, [], {}, "", 1.0])
def test_a_flag_that_is_neither_true_nor_false_is_refused(
    service: Service, company: str, value: Any
) -> None:
    answer = create(service, company, meta={"open_api": value})

    assert violations_of(answer) == [("meta.open_api", "true or false")]
