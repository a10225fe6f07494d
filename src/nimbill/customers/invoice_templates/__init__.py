"""Invoice templates: the issuer and the appearance of a printed invoice."""
