"""Every number that decides something, with the figure that justifies it."""

DEFAULT_LINE = 0.85  # the confidence from which a citation is shown: F1 is best there at a precision of 0.97 or more
MOST_PLACES = 300  # places of one value that are looked at: beyond, nobody could tell them apart
READING_UNSETTLED = 0.4  # the weight of a reading that the text does not settle
NAMED_ENOUGH = 0.6  # the share of a question that a phrase must name to answer it
ALIKE = 0.45  # the most that a figure is sure of which another place says as well
READING_SETTLED = 0.5  # the weight from which on the text settles how a place is read
