"""How right and how fast the descriptions of series are: labelled series, bars, and the peer beside them."""
