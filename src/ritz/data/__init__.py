"""Where rows come from: tables, row blocks and what one pass over them leaves behind."""
