"""What a billing group owes for a month and a vendor, line by line."""
