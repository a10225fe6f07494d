"""The product on embedded defaults, with believable resellers in it.

    story.py      who the resellers and their customers are: data, nothing else
    accounts.py   makes the resellers' organisations once and remembers how to log in
    telling.py    tells the story to the service, call by call, over its own HTTP API
    guide.py      what is printed: where to look, how to log in, what to try
    running.py    the order of it all

What later comes to the product comes to the demo as a further chapter of telling.py.
"""

from nimbill.demo.running import run_demo
from nimbill.demo.telling import DemoError

__all__ = ["DemoError", "run_demo"]
