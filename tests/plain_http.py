"""For HTTP clients of tests: the services of tests speak no TLS.

By default each new client of httpx reads all certificates of the system, which takes 20 to 50 ms.
"""

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody
