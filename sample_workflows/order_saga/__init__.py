"""Sample: an order whose finished steps are undone when a later one fails."""
