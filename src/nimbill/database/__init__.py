"""PostgreSQL: engine, tenant scope, migrations and the embedded server."""
