"""Queues and workers: what waits, for whom, and who has asked for it lately."""

from studio.components import frame, live, queue_table

visit = frame.page()
live.part(queue_table.draw, every=live.SLOW)
