"""What the rules for the number of components may see of a method."""
