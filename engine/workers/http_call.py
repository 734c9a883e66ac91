"""One HTTP request to a checked address: redirects followed and checked anew, the answer bounded,
what went wrong said in the words of Conductor's HTTP task."""

import ssl
import time
from dataclasses import dataclass, field

import httpx

from engine.instruments.telemetry import Telemetry
from engine.workers.egress import Egress, Refused, Target, Unknown

MOST_REDIRECTS = 5
TOTAL_SECONDS = 600.0
FOLLOWED = frozenset([301, 302, 303, 307, 308])
BECOME_GET = frozenset([301, 302, 303])
FOR_ONE_HOST = frozenset(["authorization", "cookie", "proxy-authorization"])


class NotAllowed(Exception):
    """The egress policy refuses the address."""


class NoAnswer(Exception):
    """The request failed below HTTP; the text says how."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to send."""

    method: str
    url: httpx.URL
    headers: dict[str, str]
    body: bytes | None
    connect_seconds: float
    read_seconds: float


@dataclass(slots=True)
class Answer:
    """What came back."""

    status: int
    reason: str
    headers: dict[str, list[str]] = field(default_factory=dict)
    body: bytes = b""
    charset: str | None = None


class Caller:
    """Sends requests. Any thread may call; no connection is used twice, for a connection is bound
    to the name it was checked for."""

    def __init__(
        self,
        egress: Egress,
        most_bytes: int,
        transport: httpx.BaseTransport | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._egress = egress
        self._most_bytes = most_bytes
        self._telemetry = telemetry or Telemetry()
        self._transport = transport or httpx.HTTPTransport(
            verify=ssl.create_default_context(),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            trust_env=False,
        )

    def close(self) -> None:
        """Close what is open."""
        self._transport.close()

    def call(self, request: Request) -> Answer:
        """Send a request, follow its redirects. Raises NotAllowed or NoAnswer."""
        first, seen = request, {str(request.url)}
        ends_at = time.monotonic() + TOTAL_SECONDS
        for _ in range(MOST_REDIRECTS + 1):
            answer, location = self._once(request, first, ends_at)
            if location is None:
                return answer
            request = redirected(request, answer.status, location)
            place = str(request.url)
            if place in seen:
                raise NoAnswer(said(first, f"Circular redirect to '{place}'"))
            seen.add(place)
        raise NoAnswer(said(first, f"Maximum redirects ({MOST_REDIRECTS}) exceeded"))

    def _once(
        self, request: Request, first: Request, ends_at: float
    ) -> tuple[Answer, httpx.URL | None]:
        try:
            target = self._egress.target(request.url)
            return self._exchange(request, target, ends_at)
        except Refused as error:
            self._telemetry.say("egress.denied")
            raise NotAllowed(f"address not allowed by egress policy: {error}") from error
        except Unknown as error:
            raise NoAnswer(said(first, str(error))) from error
        except httpx.TimeoutException as error:
            raise NoAnswer(said(first, _timeout_text(request, error))) from error
        except httpx.ConnectError as error:
            raise NoAnswer(said(first, f"{_connect(request)}{_cause_of(error)}")) from error
        except (httpx.TransportError, httpx.StreamError, httpx.DecodingError) as error:
            raise NoAnswer(said(first, str(error) or type(error).__name__)) from error

    def _exchange(
        self, request: Request, target: Target, ends_at: float
    ) -> tuple[Answer, httpx.URL | None]:
        sent = httpx.Request(
            request.method,
            request.url.copy_with(host=target.address),
            headers={"Host": _authority(request.url), **request.headers},
            content=request.body,
            extensions={
                "sni_hostname": target.host,
                "timeout": {
                    "connect": request.connect_seconds,
                    "read": request.read_seconds,
                    "write": request.read_seconds,
                    "pool": None,
                },
            },
        )
        response = self._transport.handle_request(sent)
        response.request = sent
        try:
            answer = Answer(response.status_code, response.reason_phrase, headers_of(response))
            answer.charset = response.charset_encoding
            location = self._location(request, response)
            if location is None:
                answer.body = self._body(response, ends_at)
            return answer, location
        finally:
            response.close()

    @staticmethod
    def _location(request: Request, response: httpx.Response) -> httpx.URL | None:
        text = response.headers.get("location")
        if response.status_code not in FOLLOWED or not text:
            return None
        try:
            return request.url.join(text)
        except httpx.InvalidURL as error:
            raise httpx.RemoteProtocolError(f"Invalid redirect URI: {text}") from error

    def _body(self, response: httpx.Response, ends_at: float) -> bytes:
        """The decoded body, up to the limit."""
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > self._most_bytes:
                raise httpx.ReadError(f"the response is larger than {self._most_bytes} bytes")
            if time.monotonic() > ends_at:
                raise httpx.ReadTimeout("Read timed out")
        return bytes(body)


def redirected(request: Request, status: int, location: httpx.URL) -> Request:
    """The request that follows a redirect; what was meant for one host does not go to another."""
    headers, method, body = dict(request.headers), request.method, request.body
    if status in BECOME_GET and method not in ("GET", "HEAD"):
        method, body = "GET", None
    if (location.host, location.scheme) != (request.url.host, request.url.scheme):
        headers = {k: v for k, v in headers.items() if k.lower() not in FOR_ONE_HOST}
    return Request(method, location, headers, body, request.connect_seconds, request.read_seconds)


def bare(url: httpx.URL) -> str:
    """A URL without its query, which may hold secrets."""
    return str(url.copy_with(query=None, fragment=None))


def said(request: Request, detail: str) -> str:
    """The sentence about a request that got no answer."""
    return f'I/O error on {request.method} request for "{bare(request.url)}": {detail}'


def headers_of(response: httpx.Response) -> dict[str, list[str]]:
    """Header names as they came, each with its values."""
    found: dict[str, list[str]] = {}
    for name, value in response.headers.raw:
        found.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    return found


def _authority(url: httpx.URL) -> str:
    return url.netloc.decode("ascii").rpartition("@")[2]


def _connect(request: Request) -> str:
    url = request.url
    return f"Connect to {url.scheme}://{_authority(url)} failed: "


def _timeout_text(request: Request, error: httpx.TimeoutException) -> str:
    if isinstance(error, httpx.ConnectTimeout):
        return f"{_connect(request)}Connect timed out"
    return "Read timed out"


def _cause_of(error: BaseException) -> str:
    """What the system said about a connection that failed."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return "Connection refused"
        if isinstance(cause, ssl.SSLError):
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    return str(error)
