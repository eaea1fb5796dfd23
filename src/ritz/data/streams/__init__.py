"""What is kept of rows that pass by: their means, their leading directions with bounds, a sketch, or some rows."""
