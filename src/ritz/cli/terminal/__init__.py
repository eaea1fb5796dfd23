"""How the program talks: consoles, streams, signals, and the words of its messages."""
