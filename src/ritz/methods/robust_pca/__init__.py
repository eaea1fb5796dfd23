"""Robust principal component analysis: four ways to axes that outliers do not turn."""
