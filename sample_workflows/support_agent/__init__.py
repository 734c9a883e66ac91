"""Sample: an agent loop on a small model that needs no network."""
