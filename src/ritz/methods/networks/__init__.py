"""Networks that rebuild rows from a few numbers: autoencoders, and the restricted Boltzmann machine."""
