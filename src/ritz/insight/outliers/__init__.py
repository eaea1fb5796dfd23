"""Which rows are odd, with few false alarms."""
