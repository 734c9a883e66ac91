"""Which server the studio asks, what that server can do, and who is asking."""

from studio import session
from studio.components import frame, problem, settings_view

visit = frame.page(session.enter())
frame.title("Settings")
with problem.told():
    settings_view.show(visit)
