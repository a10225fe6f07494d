"""Alembic environment: runs migrations on the connection that `nimbill.database.migrate` opened."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    version_table=attributes["version_table"],
    transactional_ddl=True,
    # If the caller has begun a transaction, all revisions run in it instead.
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
