"""Role-based access control: roles, and the roles and filters of subusers."""
