"""The nearest rows of each row: a tree where columns are few, products elsewhere, a graph library on request."""
