"""Egress: which addresses HTTP tasks and webhooks may call. Nothing is called from here.

A host is resolved once, every address it has must be allowed, and the caller connects to the very
address that was looked at: a second answer of the name service cannot lead elsewhere.

`denied` hosts are refused first, then `allowed` ones let through; for the rest `reach` decides:
`loopback-and-public`, `public-only`, `listed-only` or `unrestricted`. Private, link-local (cloud
metadata among them), multicast and reserved addresses are reached only by a name on the allowed
list or without restriction. The engine's own port is refused unless it is listed.
"""

import fnmatch
import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], Sequence[str]]

PORTS = {"http": 80, "https": 443}

NOT_PUBLIC: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
        "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
        "fec0::/10", "ff00::/8",
    )
)  # fmt: skip
"""Written out, because what Python calls global differs between its versions."""


class Refused(Exception):
    """The address is not allowed."""


class Unknown(Exception):
    """The host has no address."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect, by what name."""

    url: httpx.URL
    host: str
    port: int
    address: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Hosts by name, with wildcards, or addresses by network; at one port or all."""

    text: str
    names: str | None
    network: Network | None
    port: int | None

    def covers(self, host: str, address: Address, port: int) -> bool:
        """Does it speak of this place?"""
        if self.port is not None and self.port != port:
            return False
        if self.network is not None:
            return address.version == self.network.version and address in self.network
        return fnmatch.fnmatchcase(host.lower(), (self.names or "").lower())


def rule(text: str) -> Rule:
    """`*.example.com`, `10.1.0.0/16`, `192.168.0.7:8080`, `[fd00::]/8` and the like."""
    place, port = text.strip(), None
    head, colon, tail = place.rpartition(":")
    if colon and tail.isdigit() and (head.count(":") == 0 or head.endswith("]")):
        place, port = head, int(tail)
    bare = place.replace("[", "").replace("]", "")
    try:
        return Rule(text, None, ipaddress.ip_network(bare, strict=False), port)
    except ValueError:
        return Rule(text, place, None, port)


def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system tells."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(item[4][0]).partition("%")[0] for item in found]


class Egress:
    """The policy of one engine."""

    def __init__(
        self,
        reach: str = "loopback-and-public",
        allowed: Sequence[str] = (),
        denied: Sequence[str] = (),
        own_port: int | None = None,
        resolve: Resolve = resolved,
    ) -> None:
        self._reach = reach
        self._allowed = [rule(text) for text in allowed]
        self._denied = [rule(text) for text in denied]
        self._own_port = own_port
        self._resolve = resolve

    def target(self, url: httpx.URL) -> Target:
        """Where a call to a URL may connect. Raises Refused, or Unknown for a host nobody knows."""
        host = url.host
        if url.scheme not in PORTS:
            raise Refused(f"the scheme {url.scheme or 'of the address'} is not http or https")
        if url.userinfo:
            raise Refused("a name and password in the address are not allowed; use a header")
        if not host:
            raise Refused("the address has no host")
        port = url.port or PORTS[url.scheme]
        try:
            texts = list(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError) as error:
            raise Unknown(f"{host}: Name or service not known") from error
        if not texts:
            raise Unknown(f"{host}: Name or service not known")
        for text in texts:
            self._check(host, ipaddress.ip_address(text), port)
        return Target(url, host, port, texts[0])

    def _check(self, host: str, address: Address, port: int) -> None:
        for item in self._denied:
            if item.covers(host, address, port):
                raise Refused(f"{host} is denied by the rule {item.text}")
        if any(item.covers(host, address, port) for item in self._allowed):
            return
        if address.is_loopback and port == self._own_port:
            raise Refused("this is the engine's own address")
        if self._reach == "unrestricted":
            return
        if self._reach == "listed-only":
            raise Refused(f"{host} is not on the list of allowed hosts")
        if address.is_loopback and self._reach == "loopback-and-public":
            return
        if any(address.version == net.version and address in net for net in NOT_PUBLIC):
            raise Refused(f"{host} leads to {address}, which is not a public address")
