"""Factor analysis: common factors and uniquenesses by maximum likelihood."""
