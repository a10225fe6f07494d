"""Who is invoiced, and on what terms."""
