"""Sample: ask again every second until an export is ready."""
