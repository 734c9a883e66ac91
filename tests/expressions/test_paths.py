import copy
from typing import Any

import pytest

from engine.expressions.path_steps import VISITS_ALLOWED
from engine.expressions.paths import InvalidPath, PathTooCostly, compile_path, read_path
from engine.expressions.roots import MappingRoot


def read(text: str, **values: Any) -> Any:
    return compile_path(text).read(MappingRoot(values))


@pytest.mark.parametrize(
    "text",
    [
        "a.",
        "a..",
        "$...a",
        "$a",
        "a b",
        " a.b",
        "a[b]",
        "a[]",
        "a['x'",
        "a['x'y]",
        "a[1",
        "a[:]",
        "a[::2]",
        "a[?(@.x)",
        "a[?(@.x]",
        "a[?@.x]",
        "a[?(@.x = 1)]",
        "a[?(@.x == )]",
        "a[?(@.x == [1)]",
        "a[?(true)]",
        "a[?((@.x)]",
        "a.nope()",
        "a.length(",
        "a.append({)",
        "a" + ".b" * 40_000,
    ],
)
def test_what_is_no_path_is_refused_when_compiled(text: str) -> None:
    with pytest.raises(InvalidPath):
        compile_path(text)


def test_the_refusal_names_the_path() -> None:
    with pytest.raises(InvalidPath, match=r"workflow\.input\.first name"):
        compile_path("workflow.input.first name")


def test_reading_no_path_gives_null() -> None:
    assert read_path({"a": 1}, "a b") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a['x\\'y']", "quoted"),
        ('a["x\'y"]', "quoted"),
        ("a['\\u0041']", "letter"),
        ("a.list[2:1]", []),
        ("a.list[-2:2]", [2, 3, 1, 2]),
        ("a.list[1:2:9]", [2]),
        ("a.none[*]", []),
        ("a.none.x", None),
        ("a.list.max()", 3.0),
        ("a.list.index(-1)", 3),
        ("a.list.index(9)", None),
        ("a.list.append(4)", [1, 2, 3, 4]),
        ('a.list.append({"k":1})', [1, 2, 3, {"k": 1}]),
        ("$.length($.a.list)", 3),
        ("$.sum($.a.list, 4)", 10.0),
        ("$.concat($.a.list)", "123"),
        ("a.deep..k", [1, 2]),
        ("a.deep..[0]", [{"k": 1}, {"k": 2}]),
        ("a.deep[1].sub.first()", {"k": 2}),
        ("a.deep[*].sub.first()", [{"k": 2}]),
    ],
)
def test_the_finer_points_of_the_dialect(text: str, value: Any) -> None:
    a = {
        "x'y": "quoted",
        "A": "letter",
        "list": [1, 2, 3],
        "none": None,
        "deep": [{"k": 1}, {"sub": [{"k": 2}]}],
    }
    assert read(text, a=a) == value


@pytest.mark.parametrize(
    ("test", "kept"),
    [
        ("@.n === 1", [1]),
        ("@.n === '1'", []),
        ("@.n !== '1'", [1, 2, 3]),
        ("@.n == '1'", [1]),
        ("'1' == @.n", [1]),
        ("@.n == '1.0'", [1]),
        ("@.n IN [1, 2]", [1, 2]),
        ("!(@.n == 1 || @.n == 2)", [3]),
        ("@.n == 1 || @.n == 2 && @.t == 'zz'", [1]),
        ("@.t contains 'b'", [1, 2]),
        ("@.t size 2", [1]),
        ("@.t =~ /A.*/i", [1]),
        ("@['t'] == 'ab'", [1]),
        ("@.l[0] == 5", [3]),
        ("@.l[*]", [3]),
        ("@.l all [5]", [3]),
        ("@.l == [5,6]", [3]),
        ("@.q == $.limit.low", [1, 2, 3]),
        ("@.n >= $.limit.high", [2, 3]),
        ("@.t == 'a)b]'", []),
        ('@.t == "ab" && (@.n)', [1]),
    ],
)
def test_a_filter_keeps_what_passes_its_test(test: str, kept: list[int]) -> None:
    rows = [{"n": 1, "t": "ab"}, {"n": 2, "t": "b"}, {"n": 3, "l": [5, 6]}]
    assert read(f"rows[?({test})].n", rows=rows, limit={"high": 2}) == kept


def test_appending_leaves_the_data_as_it_was() -> None:
    values = {"a": {"list": [1]}}
    before = copy.deepcopy(values)
    assert read("a.list.append(2)", **values) == [1, 2]
    assert values == before


def test_a_function_over_a_wildcard_is_right_every_time() -> None:
    path = compile_path("$.sum($.a[*].n)")
    root = MappingRoot({"a": [{"n": 1}, {"n": 2.5}]})
    assert [path.read(root) for _ in range(3)] == [3.5, 3.5, 3.5]


def test_a_definite_path_gives_a_value_and_an_indefinite_one_a_list() -> None:
    assert compile_path("a.b[0]").definite
    assert not compile_path("a.b[*]").definite
    assert not compile_path("a['b','c'].d").definite
    assert compile_path("a['b','c']").definite


def test_a_read_that_would_visit_too_much_is_stopped_with_a_reason() -> None:
    wide = [[0] * 1000] * 1000
    assert len(wide) * len(wide[0]) > VISITS_ALLOWED
    with pytest.raises(PathTooCostly, match="JSON_JQ_TRANSFORM"):
        read("a..x", a=wide)


def test_a_filter_within_a_filter_counts_on_the_same_allowance() -> None:
    rows = [{"l": list(range(1000))}] * 1000
    with pytest.raises(PathTooCostly):
        read("rows[?(@.l[*] size 1)]", rows=rows)


def test_deep_data_is_scanned_without_recursion() -> None:
    deep: dict[str, Any] = {"x": 1}
    for _ in range(5000):
        deep = {"d": deep}
    assert read("a..x", a=deep) == [1]


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a|a)*",
        "(a*)*b",
        "((a+))+",
        "((a*)a)*",
        "(?:a?){30}a{30}",
        "(a{1,9})*",
        r"(a)\1",
        "(?=a)a",
        "(?<!a)a",
        "(",
        "a" + "{99999999999}",
    ],
)
def test_a_pattern_that_may_run_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidPath, match="pattern"):
        compile_path(f"a[?(@.t =~ /{pattern}/)]")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?:ab)+", "abab"),
        (r"\\d{4}-\\d{2}", "2031-01"),
        (r"[*+(]{2}", "*("),
        (r"(a|b)c", "bc"),
        (r".*foo.*", "a foo b"),
        (r"\\(a+\\)", "(aa)"),
    ],
)
def test_ordinary_patterns_match(pattern: str, text: str) -> None:
    assert read(f"a[?(@ =~ /{pattern}/)]".replace("\\\\", "\\"), a=[text, "other"]) == [text]


def test_many_options_on_one_text_are_stopped_with_a_reason() -> None:
    with pytest.raises(PathTooCostly, match="INLINE"):
        read("a[?(@ =~ /" + "x?" * 40 + "x" * 40 + "/)]", a=["x" * 40])


def test_a_path_of_too_many_steps_is_refused() -> None:
    with pytest.raises(InvalidPath, match="200 steps"):
        compile_path("a" + "[*]" * 300)


def test_many_scans_in_a_row_are_compiled_at_once() -> None:
    assert read("a" + "..b" * 90, a={"b": {"b": 1}}) == []
    assert read("a..b..b", a={"b": {"b": 1}}) == [1]


def test_scans_that_multiply_are_stopped() -> None:
    deep: Any = {}
    for _ in range(60):
        deep = {"b": deep, "c": 1}
    with pytest.raises(PathTooCostly):
        read("a..*..*..*..*..*", a=deep)


def test_a_pattern_over_a_text_too_long_for_it_is_stopped_with_a_reason() -> None:
    with pytest.raises(PathTooCostly, match="INLINE"):
        read("a[?(@.t =~ /.*a.*b.*c.*/)]", a=[{"t": "x" * 5000}])


def test_brackets_nested_beyond_reason_are_refused() -> None:
    with pytest.raises(InvalidPath, match="nested too deeply"):
        compile_path("a[?(" + "(" * 20_000 + "@.x" + ")" * 20_000 + ")]")
