"""What the agents on launched instances tell us, and what we tell them."""
