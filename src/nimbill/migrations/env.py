"""Where Alembic meets the connection that `nimbill.migrating` hands over."""

from alembic import context

from nimbill.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
