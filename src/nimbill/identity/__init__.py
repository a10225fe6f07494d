"""Who may use the service: organisations, users, roles and logins."""
