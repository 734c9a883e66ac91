"""Sample: a parent and a child workflow, retried on both levels."""
