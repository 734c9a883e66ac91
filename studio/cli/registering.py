"""Registers the documents of files one by one: each has its line, and one refusal stops no other."""

from collections.abc import Callable
from typing import Any

from studio.cli import documents
from studio.cli.asking import Asking
from studio.cli.failures import Told, code_of, sentence, together
from studio.cli.output import plain
from studio.client.errors import Refused, ServerError, Unreachable

Document = dict[str, Any]


def register_each(
    ask: Asking,
    files: tuple[str, ...],
    save: Callable[[Document], object],
    about: Callable[[Document], Document],
    title: Callable[[Document], str],
    hint: str = "",
) -> None:
    """Save every document; `about` says which it is to a program, `title` to a person. Told, with
    the `hint`, when one or more were refused because they are there already."""
    codes, there = [], False
    for place, found in list(documents.objects(files)):
        told, what = {"file": place, **about(found)}, title(found)
        try:
            save(found)
        except Unreachable:
            raise
        except ServerError as error:
            codes.append(code_of(error))
            there = there or isinstance(error, Refused)
            ask.out.event(
                {**told, "registered": False, "error": sentence(error)},
                f"{what}: not registered. {plain(sentence(error))}",
            )
        else:
            codes.append(0)
            ask.out.event({**told, "registered": True}, f"{what}: registered.")
    failed = sum(map(bool, codes))
    if failed:
        advice = hint if there else ""
        raise Told(f"{failed} of {len(codes)} not registered.{advice}", together(codes))
