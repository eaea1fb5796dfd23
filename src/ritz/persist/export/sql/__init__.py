"""Models as one SELECT: formulas, answers, gaps and kernels in SQL that DuckDB and PostgreSQL read alike."""
