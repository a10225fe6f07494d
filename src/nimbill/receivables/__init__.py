"""What customers owe and have paid."""
