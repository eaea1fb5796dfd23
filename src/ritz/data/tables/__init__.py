"""Tables: named columns of a kind each, from whatever holds them, and back into files."""
