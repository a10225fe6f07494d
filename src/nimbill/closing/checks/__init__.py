"""What looks wrong in a month before its invoices go out."""
