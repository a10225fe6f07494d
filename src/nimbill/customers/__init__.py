"""A reseller's customers: billing groups, cloud accounts, projects and how they are invoiced."""
