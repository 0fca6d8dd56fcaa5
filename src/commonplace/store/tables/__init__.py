"""Every SQL statement on each table, shared by both engines."""
