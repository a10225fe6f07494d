"""What a month's invoice would be under other terms; nothing is stored."""
