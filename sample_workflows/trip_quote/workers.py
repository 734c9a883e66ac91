"""A travel desk: three independent searches and the offer made of them. Prices in euros."""

from typing import Any

from sample_workflows.failures import GivenUp

FLIGHTS = {"Lisbon": 184, "Oslo": 212, "Rome": 139}
ROOM_PER_NIGHT = {3: 74, 4: 118, 5: 196}
CAR_PER_DAY = 41


def find_flight(task: dict[str, Any]) -> dict[str, Any]:
    city = task["city"]
    if city not in FLIGHTS:
        raise GivenUp(f"There is no flight to {city}. Try {', '.join(FLIGHTS)}.")
    return {"flight": f"Berlin to {city} and back", "price": FLIGHTS[city]}


def find_hotel(task: dict[str, Any]) -> dict[str, Any]:
    stars, nights = task["stars"], task["nights"]
    if stars not in ROOM_PER_NIGHT:
        raise GivenUp(f"No hotel in {task['city']} has {stars} stars. Ask for 3, 4 or 5.")
    return {
        "hotel": f"{stars} stars, {nights} nights in {task['city']}",
        "price": ROOM_PER_NIGHT[stars] * nights,
    }


def rent_car(task: dict[str, Any]) -> dict[str, Any]:
    return {"car": f"Small car for {task['days']} days", "price": CAR_PER_DAY * task["days"]}


def write_offer(task: dict[str, Any]) -> dict[str, Any]:
    found = (task["flight"], task["hotel"], task["car"])
    total = sum(part["price"] for part in found)
    text = f"{task['flight']['flight']}; {task['hotel']['hotel']}; {task['car']['car']}"
    return {"total": total, "text": f"{text}. Together {total} euros."}


WORKERS = {
    "find_flight": find_flight,
    "find_hotel": find_hotel,
    "rent_car": rent_car,
    "write_offer": write_offer,
}
