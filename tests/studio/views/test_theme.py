"""One look for a status everywhere, told apart without colour, readable in both themes."""

import tomllib
from pathlib import Path

import pytest

from studio.graph import marks
from studio.views import theme

CONFIG = Path(__file__).parents[3] / ".streamlit" / "config.toml"


def luminance(colour: str) -> float:
    parts = [value / 255 for value in bytes.fromhex(colour[1:])]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("raw", [*marks.STATUSES, "LEVITATING"])
def test_every_status_can_be_read_on_paper_and_panel(raw: str, dark: bool) -> None:
    ink = marks.INK["dark" if dark else "light"]
    for paper in (ink["bg"], ink["panel"], ink["node"]):
        assert contrast(theme.status(raw).colour(dark), paper) >= 4.6


@pytest.mark.parametrize("name", ["light", "dark"])
def test_every_ink_can_be_read_on_paper_panel_and_node(name: str) -> None:
    ink = marks.INK[name]
    for shade in ("ink", "ink-2", "ink-3"):
        for paper in ("bg", "panel", "node"):
            assert contrast(ink[shade], ink[paper]) >= 4.5


def test_statuses_with_different_words_differ_in_shape_or_share_a_meaning() -> None:
    shapes: dict[str, set[str]] = {}
    for mark in marks.STATUSES.values():
        shapes.setdefault(mark.shape, set()).add(mark.tone)
    assert all(len(tones) == 1 for tones in shapes.values())
    assert {mark.shape for mark in marks.STATUSES.values()} <= set(marks.SHAPES)


def test_an_unknown_status_is_grey_and_keeps_its_raw_name() -> None:
    mark = theme.status("LEVITATING")
    assert (mark.word, mark.icon, mark.letter, mark.tone) == ("LEVITATING", "help", "?", "skipped")


def test_the_theme_file_gives_streamlits_colours_the_colours_of_the_statuses() -> None:
    config = tomllib.loads(CONFIG.read_text())["theme"]
    for raw in ("FAILED", "TIMED_OUT", "COMPLETED_WITH_ERRORS", "RUNNING", "COMPLETED"):
        name = theme.colour_name(raw)
        assert config["light"][f"{name}Color"] == theme.status(raw).light
        assert config["dark"][f"{name}TextColor"] == theme.status(raw).dark


def test_foreign_text_cannot_become_markdown() -> None:
    found = theme.badge_markdown("x](http://a) :red[b] <i> $y$\n# h")
    assert found.startswith(":gray-badge[:material/help: x\\]\\(http\\:")
    assert "\n" not in found and "<i>" not in found


def test_a_cell_picture_is_an_svg_and_nothing_is_loaded_for_it() -> None:
    assert theme.picture("FAILED").startswith("data:image/svg+xml,%3Csvg")


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "0 ms"),
        (86, "86 ms"),
        (1_240, "1.2 s"),
        (41_100, "41 s"),
        (69_000, "1 min 9 s"),
        (240_000, "4 min"),
        (8_040_000, "2 h 14 min"),
        (93_600_000, "1 d 2 h"),
    ],
)
def test_durations_read_like_words(ms: int, words: str) -> None:
    assert marks.duration_words(ms) == words


def test_long_names_are_cut_in_the_middle_and_sentences_at_the_end() -> None:
    assert marks.shortened("process_payment_of_order_v2", 12) == "proces…er_v2"
    assert marks.shortened("short", 12) == "short"
    assert marks.cut("while the parcel is on its way", 12) == "while the p…"
