"""What a distance is, each kind of rows in one file; ``resolve.py`` makes a space of what a user writes."""
