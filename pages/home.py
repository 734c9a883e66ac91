"""What needs me now: failures, people waited for, work that nobody takes, and the newest runs."""

from studio.components import first_page, frame, live

visit = frame.page()
live.part(first_page.draw, every=live.SLOW)
