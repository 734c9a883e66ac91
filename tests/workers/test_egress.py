"""Which addresses may be called."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from engine.workers.egress import Egress, Refused, Resolve, Unknown

PRIVATE = [
    "10.0.0.1", "172.16.5.4", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0",
    "224.0.0.1", "255.255.255.255", "198.18.0.1", "::", "fd00:ec2::254", "fe80::1", "ff02::1",
    "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:a00:1::",
]  # fmt: skip


def leads_to(*addresses: str) -> Resolve:
    def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


def allowed(egress: Egress, url: str) -> bool:
    try:
        egress.target(httpx.URL(url))
    except Refused:
        return False
    return True


def egress(*addresses: str, **rules: Any) -> Egress:
    return Egress(**rules, resolve=leads_to(*addresses))


@pytest.mark.parametrize("address", PRIVATE)
@pytest.mark.parametrize("reach", ["loopback-and-public", "public-only"])
def test_private_addresses_are_not_called(address: str, reach: str) -> None:
    assert not allowed(egress(address, reach=reach), "http://host.test/")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_is_called_only_where_the_engine_is_on_loopback_itself(address: str) -> None:
    assert allowed(egress(address, reach="loopback-and-public"), "http://host.test/")
    assert not allowed(egress(address, reach="public-only"), "http://host.test/")


def test_public_addresses_are_called_and_connected_to_as_resolved() -> None:
    target = egress("93.184.216.34", reach="public-only").target(httpx.URL("https://a.test/x"))
    assert (target.address, target.host, target.port) == ("93.184.216.34", "a.test", 443)


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    assert not allowed(egress("93.184.216.34", "10.0.0.1"), "http://host.test/")


def test_the_engines_own_port_is_refused_unless_it_is_listed() -> None:
    own = {"own_port": 8080}
    assert not allowed(egress("127.0.0.1", **own), "http://localhost:8080/api")
    assert allowed(egress("127.0.0.1", **own), "http://localhost:9090/")
    listed = egress("127.0.0.1", allowed=["localhost:8080"], **own)
    assert allowed(listed, "http://localhost:8080/api")


def test_a_listed_host_or_network_is_called_though_it_is_private() -> None:
    assert allowed(egress("10.1.2.3", allowed=["*.corp.test"]), "http://pay.corp.test/")
    assert allowed(egress("10.1.2.3", allowed=["10.1.0.0/16"]), "http://pay.corp.test/")
    assert not allowed(egress("10.2.2.3", allowed=["10.1.0.0/16"]), "http://pay.corp.test/")
    assert not allowed(egress("10.1.2.3", allowed=["10.1.2.3:443"]), "http://pay.corp.test/")


def test_a_denied_host_is_refused_though_it_is_listed() -> None:
    both = egress("93.184.216.34", allowed=["*"], denied=["bad.test"])
    assert not allowed(both, "http://BAD.test/")
    assert allowed(both, "http://good.test/")


def test_only_listed_hosts_are_called_where_that_is_asked_for() -> None:
    found = egress("93.184.216.34", reach="listed-only", allowed=["good.test"])
    assert allowed(found, "http://good.test/") and not allowed(found, "http://other.test/")


def test_without_restriction_all_but_the_denied_are_called() -> None:
    found = egress("10.0.0.1", reach="unrestricted", denied=["10.0.0.0/8:22"])
    assert allowed(found, "http://host.test/") and not allowed(found, "http://host.test:22/")


@pytest.mark.parametrize("url", ["ftp://a.test/", "file:///etc/passwd", "http://u:p@a.test/", "x"])
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    assert not allowed(egress("93.184.216.34"), url)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1"])
def test_a_number_for_an_address_is_seen_through(host: str) -> None:
    assert not allowed(Egress("public-only"), f"http://{host}/")


def test_a_host_without_an_address_is_unknown() -> None:
    with pytest.raises(Unknown, match=r"nowhere\.test: Name or service not known"):
        egress().target(httpx.URL("http://nowhere.test/"))
