"""Which rows are outliers, with few false alarms."""
