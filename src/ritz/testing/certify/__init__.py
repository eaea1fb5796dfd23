"""The check of certificates: ``python -m ritz.testing.certify``.

problem    one problem: a matrix under a treatment, its truth, and the ways to fit it
cases      which problems there are: families in turn, the rest drawn
hard       families made to be hard on one bound each
checks     the claims of a certificate, held against the truth
run        all of it, in processes, with a table
"""
