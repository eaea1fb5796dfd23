"""Models for other programs: ONNX graphs, SQL queries, tables of components."""
