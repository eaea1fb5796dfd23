"""Which rows are near which: neighbours, and the graphs that they make.

spaces/      what a distance is: vectors, sparse rows, kernels, strings, functions, precomputed distances
search/      the nearest rows of each row, exact with a proof, or approximate with a measured recall
graph.py     lists of neighbours → a symmetric graph, in which every edge has its weight
components.py  graphs that fall apart, and the shortest links that join them
neighbours.py  the estimator
"""
