"""The demo: a service with seed data on an embedded database.

Data:
    resellers.py, customers.py, contract_terms.py   the resellers and the customers they bill
    monthly_data.py       the months: exchange rates, one-off charges, overrides
    fixtures.py           projects, invoice templates, cloud accounts, subusers
    account_charges.py    the charges of each account in each month
    cost_deliveries.py    the vendor deliveries; write_cost_files.py writes their files
    vendor_files/         generates vendor files, also for tests and benchmarks

Program:
    run.py                starts the database, the service and the seeding
    logins.py             creates the organisations and stores their logins
    api_client.py         the client of the API, a package of its own: nimbill-client
    seed_steps.py, cost_steps.py, invoice_steps.py   the steps that create the seed data
    seeding.py            runs the steps that are not completed yet
    guide.py, sample_commands.py   the text that the demo prints

A new feature of the product is shown by adding a step to seed_steps.py.
"""
