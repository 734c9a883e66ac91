"""What probes and scrapers ask outside /api: health, metrics."""

from starlette.responses import Response

from engine.api.admin import Admin
from engine.api.wire import Call, Route
from engine.model.record import Json
from engine.services.house import House

EXPOSITION = "text/plain;version=0.0.4;charset=utf-8"


class Probes:
    """Answers for machines that watch."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._admin = Admin(house)

    def routes(self) -> list[Route]:
        """Where Conductor has them."""
        return [
            Route("GET", "/health", self._admin.health),
            Route("GET", "/metrics", self.metrics, gives="text"),
            Route("GET", "/actuator/prometheus", self.metrics, gives="text"),
            Route("GET", "/actuator/health", self.state),
            Route("GET", "/actuator/info", self.info),
        ]

    def metrics(self, call: Call) -> Response:
        """Counters, timings and gauges as Prometheus reads them."""
        text = self._house.engine.metrics.render(self._house.gauges.now())
        return Response(text.encode(), headers={"content-type": EXPOSITION})

    def state(self, call: Call) -> dict[str, Json]:
        """UP or DOWN."""
        healthy = self._admin.health(call)["healthy"]
        return {"status": "UP" if healthy else "DOWN"}

    def info(self, call: Call) -> dict[str, Json]:
        """Which program this is."""
        return {"build": {"name": "reprise", "version": self._house.version}}
