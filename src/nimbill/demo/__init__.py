"""The product on embedded defaults, with believable resellers in it.

    story.py          who the resellers are
    customers.py      whom they bill; agreements.py on what terms
    story_months.py   the story's months: rates, one-off charges, what was agreed when
    estate.py         what they keep beside their customers: projects, templates, accounts, people
    accounts.py       makes the resellers' organisations once and remembers how to log in
    chapters.py       the story, chapter by chapter, as calls of the service's own HTTP API
    cost_*.py         what the vendors charged: laid into the inbox as files, and taken in
    consumption.py    how much each account used in each month
    invoice_chapters  a month's end: settings, rates, invoices, closed, printed
    vendor_*.py       months of any length in the vendors' dialects, for tests and figures too
    calling.py        the client that makes these calls
    telling.py        tells whatever has not been told yet
    guide.py          what is printed: where to look, how to log in; worth_trying.py what to try
    running.py        the order of it all

What later comes to the product comes to the demo as a further chapter of chapters.py.
"""
