"""The journal in a PostgreSQL database, which processes on many machines share."""
