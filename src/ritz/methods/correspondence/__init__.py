"""The correspondence family: tables of counts, of categories, of mixed columns and of groups of columns."""
