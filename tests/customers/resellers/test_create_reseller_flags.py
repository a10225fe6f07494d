"""POST /m/core/reseller: display flags"""

from __future__ import annotations

import pytest

from nimbill.customers.resellers.meta_flags import FLAGS
from tests.customers.resellers.reseller_accounts import (
    get_only_reseller,
    list_resellers,
    post_reseller,
)
from tests.problem_responses import read_violations
from tests.running_service import Service


def test_absent_flags_have_their_default(service: Service, company: str) -> None:
    post_reseller(service, company, meta={})

    assert get_only_reseller(service)["meta"] == dict(FLAGS)


@pytest.mark.parametrize("value", [True, False])
def test_every_flag_can_be_set(service: Service, company: str, value: bool) -> None:
    assert post_reseller(service, company, meta=dict.fromkeys(FLAGS, value)).status_code == 200

    assert get_only_reseller(service)["meta"] == dict.fromkeys(FLAGS, value)


def test_a_flag_changes_no_other_flag(service: Service, company: str) -> None:
    post_reseller(service, company, meta={"invoice": True, "usage_tag": False, "aq_link": True})

    expected = {**FLAGS, "invoice": True, "usage_tag": False, "aq_link": True}
    assert get_only_reseller(service)["meta"] == expected


def test_an_unknown_flag_is_refused_by_its_name(service: Service, company: str) -> None:
    response = post_reseller(service, company, meta={"invoice": True, "canary": True})

    assert read_violations(response) == [("meta.canary", "not a known flag")]
    assert list_resellers(service) == []


def test_the_alias_of_the_published_sample_sets_the_flag(service: Service, company: str) -> None:
    meta = {"aqua_link": True, "invoice": None, "usage_tag": None}

    assert post_reseller(service, company, meta=meta).status_code == 200

    assert get_only_reseller(service)["meta"] == {**FLAGS, "aq_link": True}
