"""Ways to hang, each run in a process of its own."""
