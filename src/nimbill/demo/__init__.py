"""The product on embedded defaults, with believable resellers in it.

    story.py      who the resellers and their customers are: data, nothing else
    accounts.py   makes the resellers' organisations once and remembers how to log in
    estate.py     what they keep beside their customers: projects, a template, accounts, people
    chapters.py   the story, chapter by chapter, as calls of the service's own HTTP API
    cost_*.py     what the vendors charged: laid into the inbox as files, and taken in
    vendor_*.py   months of any length in the vendors' dialects, for tests and figures too
    calling.py    the client that makes these calls
    telling.py    tells whatever has not been told yet
    guide.py      what is printed: where to look, how to log in, what to try
    running.py    the order of it all

What later comes to the product comes to the demo as a further chapter of chapters.py.
"""
