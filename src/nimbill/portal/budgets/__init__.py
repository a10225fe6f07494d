"""Budgets of a company, their state, and the mails when a threshold is passed."""
