"""Staff view: a member of staff sees the portal as a customer sees it, and changes nothing."""
