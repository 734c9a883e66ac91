"""Queues and workers: what waits, for whom, and who has asked for it lately."""

from functools import partial

from studio import session
from studio.components import frame, live, queue_table

visit = frame.page(session.enter())
live.part(partial(queue_table.draw, visit), every=live.SLOW)
