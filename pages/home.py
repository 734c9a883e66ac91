"""What needs me now: failures, people waited for, work that nobody takes, and the newest runs."""

from functools import partial

from studio import session
from studio.components import first_page, frame, live

visit = frame.page(session.enter())
live.part(partial(first_page.draw, visit), every=live.SLOW)
