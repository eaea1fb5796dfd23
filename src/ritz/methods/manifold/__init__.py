"""Maps of rows: from their distances, as they are or along a graph, and from their neighbourhoods.

sources.py       squared distances in tiles: of a metric, given, or corrected so that they fit into a Euclidean space
geodesic.py      shortest paths through a graph of neighbours, in row tiles on all cores:
                 elimination.py by taking nodes out, searches.py by Dijkstra's search; entering.py: from new rows
placement.py     Gower's formula: where a new row lies
landmarks.py     few rows solved exactly, all others placed by them, and an estimate of what that costs
stress.py        stress of a map and its gradient; shapes.py, descent.py, refine.py: what SMACOF and Sammon need
local.py         rows as nodes, components solved one by one, new rows; nodes.py, placed.py, affinity.py, weights.py
unfolding/       the semidefinite program of MVU, its solvers and its proof
divergence.py    what t-SNE makes small, from its definition; opentsne.py: the library that makes it small
mds.py, isomap.py, lle.py, laplacian.py, diffusion.py, mvu.py, tsne.py   the estimators
"""
