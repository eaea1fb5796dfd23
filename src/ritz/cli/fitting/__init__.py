"""From a table and options to a fitted model: columns, method, number of components, scaling."""
