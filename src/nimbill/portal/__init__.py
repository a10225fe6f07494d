"""What a reseller's customer sees; each route names its display flag."""
