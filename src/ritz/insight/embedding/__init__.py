"""How far an embedding can be trusted, how many dimensions rows have, and how many neighbours to take."""
