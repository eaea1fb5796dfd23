"""What axes are made of: loadings, contributions, rotations, biplots, supplementary variables."""
