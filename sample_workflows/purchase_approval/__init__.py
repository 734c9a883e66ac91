"""Sample: a purchase that waits for a person, with a reminder on a timer."""
