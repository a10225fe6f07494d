"""Invoice templates: the issuer's block on a printed invoice, and how it looks."""
