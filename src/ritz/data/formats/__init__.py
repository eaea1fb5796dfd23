"""Where the rows of a table lie: one small file a format, all of them a ``Source`` (``ritz.data.formats.source``)."""
