"""What the words and shapes mean, and which action is right when."""

from studio.components import frame, help_view

visit = frame.page()
frame.title("Help")
help_view.show()
