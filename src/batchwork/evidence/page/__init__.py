"""Where things stand: lines, cells, tables, headings and sentences, and the labels that a place has there."""
