"""What is proved about an answer: enclosures, angles, completeness, and the table that prints them."""
