"""Free JSON values keep what they say."""

import pytest

from engine.model.record import decode, encode

WEI = 115792089237316195423570985008687907853269984665640564039457584007913129639935


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 12345678901234567890123, WEI, -WEI])
def test_whole_numbers_beyond_64_bits_are_kept_exactly(number: int) -> None:
    value = {"amount": number, "list": [number], "text": str(number)}
    assert decode(encode(value)) == value
    assert decode(b'{"amount":%d}' % number) == {"amount": number}


def test_numbers_with_a_fraction_stay_doubles() -> None:
    value = decode(b'{"f":0.12345678901234567890123,"d":1.0,"n":7}')
    assert value == {"f": 0.12345678901234568, "d": 1.0, "n": 7}
    assert [type(item) for item in value.values()] == [float, float, int]


def test_what_is_no_number_is_null_also_beside_a_long_one() -> None:
    assert encode({"a": 2**70, "b": [float("nan")]}) == b'{"a":1180591620717411303424,"b":[null]}'


@pytest.mark.parametrize(
    "strange",
    [rb'"\ud800"', b'"\xed\xa0\x80"', b'"\xff"', b"NaN", b"-Infinity", b"1e999", b"[" * 9999],
)
@pytest.mark.parametrize("beside", [b"1", b"99999999999999999999999"])
def test_what_no_json_text_may_hold_is_refused_also_beside_a_long_number(
    strange: bytes, beside: bytes
) -> None:
    with pytest.raises((ValueError, RecursionError)):
        decode(b"[" + beside + b"," + strange + b"]")


def test_signs_beyond_the_first_plane_are_read_beside_a_long_number() -> None:
    assert decode(rb'["\ud83d\ude00",99999999999999999999999]') == ["\U0001f600", 10**23 - 1]
