"""Where clients leave and fetch payloads as files: Conductor's storage endpoints, and the door that
their addresses lead to."""

from starlette.responses import Response

from engine.api.wire import JSON_TYPE, Call, Route, read_json
from engine.model.errors import InvalidInput
from engine.model.record import Json
from engine.services.house import House

_LOCATION = ("path", "operation", "payloadType")
_PLACES = ("externalstoragelocation", "external-storage-location")


class PayloadRoutes:
    """Answers about payloads in the payload folder."""

    def __init__(self, house: House) -> None:
        self._payloads = house.payloads

    def routes(self) -> list[Route]:
        """To be put before what is variable below /tasks and /workflow."""
        asked = [
            Route("GET", f"/{of}/{place}", self.location, _LOCATION)
            for of in ("tasks", "workflow")
            for place in _PLACES
        ]
        return [
            *asked,
            Route("GET", "/ext/payloads/{path}", self.read),
            Route("PUT", "/ext/payloads/{path}", self.write, (), "map", "none"),
        ]

    def location(self, call: Call) -> dict[str, Json]:
        """Where to fetch a payload (READ), or to leave one (WRITE)."""
        path = self._payloads.location(
            call.need("operation"), call.need("payloadType"), call.text("path")
        )
        return {"uri": f"{_origin(call)}/api/ext/payloads/{path}", "path": path}

    def read(self, call: Call) -> Response:
        """A payload."""
        return Response(self._payloads.read(call.path["path"]), media_type=JSON_TYPE)

    def write(self, call: Call) -> None:
        """Leave a payload: a JSON object, whatever the content type says."""
        value = read_json(call.body)
        if not isinstance(value, dict):
            raise InvalidInput("The body is no JSON object: a payload is always one.")
        self._payloads.write(call.path["path"], value)


def _origin(call: Call) -> str:
    """The address by which the client has reached us."""
    forwarded = call.headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    scheme = forwarded if forwarded in ("http", "https") else "http"
    return f"{scheme}://{call.headers.get('host', 'localhost')}"
