"""Who asked for tasks, and when last."""

from engine.services.sightings import MOST, Sighting, Sightings


def test_the_latest_of_each_worker_is_known() -> None:
    seen = Sightings()
    seen.note("print", None, "me", 1)
    seen.note("print", "blue", "me", 2)
    seen.note("print", None, "me", 3)
    seen.note("ship", None, None, 4)
    assert seen.latest("print") == [
        Sighting("print", None, "me", 3),
        Sighting("print", "blue", "me", 2),
    ]
    assert len(seen.latest()) == 3


def test_only_what_is_new_is_written_down() -> None:
    seen = Sightings()
    seen.note("print", None, "me", 1)
    assert seen.unwritten() == [("print", None, "me", 1)]
    assert seen.unwritten() == []
    seen.note("print", None, "me", 2)
    assert seen.unwritten() == [("print", None, "me", 2)]


def test_the_longest_unseen_are_forgotten_first() -> None:
    seen = Sightings()
    for number in range(MOST + 1):
        seen.note("print", None, f"w{number}", number)
    kept = {item.worker for item in seen.latest()}
    assert "w0" not in kept and f"w{MOST}" in kept and len(kept) <= MOST
