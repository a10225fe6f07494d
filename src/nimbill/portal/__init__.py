"""The portal: what a reseller account sees. Each route declares its display flag."""
