"""Puts the program together: routes, middleware, server, database schema and maintenance."""
