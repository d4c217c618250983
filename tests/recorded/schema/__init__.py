"""The schema of the four databases, as `prepare` leaves them empty: read from the database, not from the models."""
