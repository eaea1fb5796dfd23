"""What every other folder stands on: arrays, small linear algebra, errors, tolerances, randomness, threads, files."""
