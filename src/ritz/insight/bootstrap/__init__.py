"""How sure a decomposition is: draws, permutations, intervals."""
