"""Sample: one worker and one line of JavaScript."""
