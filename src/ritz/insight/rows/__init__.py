"""Where rows lie: distances in the plane and off it, their limits, and which columns made a row an outlier."""
