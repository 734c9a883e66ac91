"""What the words and shapes mean, and which action is right when."""

from studio import session
from studio.components import frame, help_view

visit = frame.page(session.enter())
frame.title("Help")
help_view.show()
