"""What a month is expected to cost at the customer's price, and how far off such forecasts were."""
