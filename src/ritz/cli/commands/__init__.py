"""One file for each command; every command is a thin face of a function of the library."""
