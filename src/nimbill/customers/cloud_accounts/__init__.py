"""Customers' accounts at the cloud vendors and the billing groups they belong to."""
