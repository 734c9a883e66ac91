"""Sample: three searches side by side, joined into one offer."""
