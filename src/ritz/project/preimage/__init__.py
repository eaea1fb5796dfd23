"""From scores back to rows: four ways to a pre-image, and the rows whose scores are known."""
