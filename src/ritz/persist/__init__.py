"""Saving and loading: models as container files, never pickles."""
