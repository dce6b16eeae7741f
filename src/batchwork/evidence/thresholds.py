"""Every number that decides something, with the figure that justifies it; weights are fitted, in `model.json`."""

DEFAULT_LINE = 0.81  # the confidence from which a citation is shown: precision 0.975 on papers kept out
LEAST_SURE = 0.05  # below this a place is not worth telling
ALIKE = 0.45  # the most that a figure is sure of when nothing but order tells its place from another
CURRENCY_SURE = 0.9  # a currency's code or sign means the same wherever it stands: right in all demo invoices
READING_SETTLED = 0.5  # the weight from which on the text settles how a place is read (03/04/2024 is 0.45 either way)
READING_UNSETTLED = 0.4  # the weight of a figure without the factor that a note over its table asks for
MOST_PLACES = 300  # places of one value that are looked at: bounds the work, nobody could tell more apart
MOST_REPEATS = 5  # places that are told of which nothing tells apart
MOST_RIVAL_LINES = 300  # lines in which a rival is looked for: bounds the work
NAMED_ENOUGH = 0.6  # the share of a question, or a field, that a line must name to be looked at: two words of three
ANSWERED = 0.7  # the same to answer it by a phrase without a plain yes or no: two of three are wrong half the time
HALF = 0.5  # the same for a phrase that is quoted
MOST_STATEMENTS = 5  # phrases about a question of yes or no that are read: more bring nothing and cost time
NAMING = 0.7  # how like a word must be to another to name it: a longer form of it (0.9) does, loose relations do not
EXACTLY = 0.97  # a label that names the field this well can only be rivalled on its own line
# In log odds, two fields that would do so much better by changing places contradict the text (made layouts, exchanged:
# 14 wrong ones and no right one; papers 16 and 3), and so does a value of nobody's (3 wrong ones and no right one).
EXCHANGED = 0.15
CONTRADICTED = 0.85
CONTESTED = 0.5  # in log odds: a place that another field fits so much better is that one's
NAMED_IN_FULL = 0.8  # a field's words, all of them near: then a label that it excludes does not refuse the place
FAINT = 0.25  # what a kind of place implies of a field's words by itself; below it nothing names the field
NAMED_AT_ALL = 0.3  # how well a label must name a field for the value beside it to be a rival: a word of three
NEARLY_AS_WELL = 0.15  # how much worse a rival's label may name the field than its own
NEXT_BEST = 2.5  # in log odds: how much worse a field's next place may be when another field has its best one
NEAR_LINES = 4  # lines to a neighbour: an address, the trailer of a changelog entry
PARAGRAPH = 12  # lines of a paragraph to each side that are looked at: bounds the work
# The confidence of a verified quote that nothing contests: on the open papers 134 more fields, and no new mistake.
QUOTED = 0.95
MOST_QUOTES = 5  # quotes of one field that are looked at: bounds the work
MOST_ALIKE = 3  # phrases with half of a question's words, beyond which none of them answers it
MOST_QUOTED = 10  # places of one quote that are looked at, and other fields of the same value: bounds the work
OUTDONE = 5.0  # in log odds: how much better a place may be that the finder knows when a rare value is quoted elsewhere
OUTDONE_LONG = 3.0  # the same for a value that is not rare or that another field has, too
OUTDONE_COMMON = 2.0  # the same for a year or less, which may stand in a quote by chance
UNBACKED = 0.95  # how sure the finder must be of a field whose quotes are all refused: precision 0.991 with sloppy ones
SETTLED_BY = 2.0  # in log odds: by how much the finder must prefer one of a quote's places
VERY_SURE = 0.985  # a confidence of a rare value's place that a quote of another one does not shake
BESIDE = 100  # characters between a place and words about it: a quote that is cut off before the value
