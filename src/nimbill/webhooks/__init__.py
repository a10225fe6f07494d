"""Webhooks: events of the organisation, sent to its endpoints by jobs."""
