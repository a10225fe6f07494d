"""Reservations and savings plans of a customer, their use, and what could be reserved."""
