"""What each number of a report means, in a sentence or two: the section that ends every report."""

_ANSWERS = """\
## How to read this

- **Trial, pair.** A trial is one fresh data set and one question, asked in every condition. A pair is a trial
  that both the baseline and the treatment answered; only pairs are compared.
- **Missing.** Calls that failed, were skipped by a rule (a baseline too large to send) or were still pending
  when the run ended. They are never counted as wrong answers. A condition with more than 5% missing is marked
  **(!)**: what is missing may differ from what is there.
- **Unparsed.** An answer that came and in which no unambiguous answer can be read. It counts as wrong.
- **Accuracy and its interval.** The share of answers that were right, and Wilson's 95% interval for it. Its
  width follows from the number of data sets, which are independent, and not from the number of answers.
"""
_TESTS = """\
- **Difference.** The treatment's accuracy less the baseline's over the pairs, in percentage points; above 0
  favours the treatment. The 95% interval combines two exact ones: of how many pairs only one side got right, and
  of the treatment's part of those. Whatever is true, it holds the truth in at least 95% of the runs, also with
  few pairs. Pairs of one data set count as one sample. It is of its row alone and not adjusted: with one
  question per data set it leaves 0 out exactly when p is below 0.05. The verdict follows the adjusted p, so a
  row whose interval leaves 0 out may still read "cannot tell". Beside it stands the interval that a bootstrap
  gives which draws whole data sets (with an imaginary one for each side): narrower, and with few pairs it holds
  the truth less often.
- **p.** If both conditions were alike, each data set would favour either side by the toss of a coin; p is the
  share of all tosses that give a difference as large as this one. With one question per data set this is
  McNemar's exact test.
- **Adjusted p.** The same, corrected for the number of questions asked at once (Holm's method: the overall
  comparisons share one half of the 5%, the tasks the other). Only an adjusted p of at most 0.05 is called
  better or worse: of the runs that compare two identical conditions, at most 5% do so anywhere in their report.
- **Cannot tell.** The run does not show which is right more often. This does not mean that they are equally
  good.
- **Together.** The sum of the rows above. When the run ended before every task had a pair, it is of those that
  have one, and nothing is called better or worse over all tasks.
- **Could see.** The smallest true difference that as many data sets, differing as often as these did, would
  have shown in 8 of 10 runs. If a smaller difference matters to you, run more trials; how many, is said by
  `--power 0.8 --detect 0.1 --discordance D`, where D is the share of pairs that only one side got right.
- **Only treatment, only baseline.** Pairs that only one side got right; all evidence for a difference is in
  these. The **odds ratio** is the first divided by the second, with half a pair added to both.
- **Cohen's h.** The difference on a scale on which 0.2 is small, 0.5 medium and 0.8 large, whatever the
  accuracies are.
"""
_COSTS = """\
- **Tokens.** Mean input per call over the pairs, as the provider counted it; where it did not, characters / 4,
  and the table says so. A mock only estimates, in the same way. *Data part* is the data alone, without
  instructions and question, always in characters (/ 4 in the table), since no provider counts it by itself.
- **Cost.** From the provider's usage and prices. A cost that is not known is said to be unknown, never taken
  for nothing.
- **Latency.** Seconds from sending to the answer, of the try that brought it: earlier tries of the same call, and
  the waiting between them, are not in it. Half of the answers took at most p50, 90% at most p90, 99% at most p99.
- **Invented numbers.** Numbers in the answers that follow neither from the data nor from the question. A
  false alarm is a number that does follow and is flagged all the same; a miss is a made-up number that is not
  flagged. How often both happen stands there, where it was measured.
"""
GUIDE = _ANSWERS + _TESTS + _COSTS
READER_GUIDE = _ANSWERS + _COSTS  # where no model answered and nothing is tested
