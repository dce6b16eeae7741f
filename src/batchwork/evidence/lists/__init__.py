"""Where the elements of a list live: rows, columns, paragraphs, or stretches of one line."""
