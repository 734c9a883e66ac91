"""Sample: one task per photo, however many photos there are."""
