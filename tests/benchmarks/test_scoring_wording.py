"""What counts and what does not, form by form: plain answers in ordinary wording, and all that only looks like one.

A block holds replies between bars; ¶ stands for a line break.
"""

import re

import pytest

from batchwork.benchmarks.scoring import Choice, Count, Flag, Number, Positions
from batchwork.benchmarks.scoring.wording import prepared

NUMBER, PERCENT, COUNT, POSITIONS, FLAG = Number(), Number(percent=True), Count(), Positions(), Flag()
TREND, SIDE = Choice(("rising", "falling", "none")), Choice(("above", "below", "both", "none"))
MORE, LESS = Choice(("A", "B"), asks="more"), Choice(("A", "B"), asks="less")


def replies(blocks):
    return [
        (form, truth, reply.strip().replace("¶", "\n"))
        for (form, truth), block in blocks.items()
        for reply in re.split(r"\s\|\s", block)
    ]


PLAIN = {
    (NUMBER, 12.5): r"""
        12.5 | 12.5. | **12.5** | `12.5` | It's 12.5. | It’s 12.5 | The mean is 12.5. |
        The mean of the series is 12.5. | The mean of the values is 12.5 | Mean: 12.5 | mean = 12.5 | mean ≈ 12.5 |
        ~12.5 | approximately 12.5 | The mean is approximately 12.5. | about 12.5 | The answer is 12.5. | Answer: 12.5 |
        **Answer:** 12.5 | Answer:¶12.5 | Answer: **12.5** | My final answer is 12.5. | Final answer: 12.5 |
        The result is 12.5 | So the mean is 12.5. | Thus, the standard deviation is 12.5. |
        The 95th percentile is 12.5. | The 95th percentile of the series is 12.5 | p95 = 12.5 |
        The interquartile range is 12.5 | The slope of the least-squares line is 12.5 per step | R² = 12.5 |
        R-squared is 12.5 | The z-score of the last value is 12.5. | Based on the data, the mean is 12.5. |
        Based on the provided data, the mean of the series is approximately 12.5. |
        According to the description, the median is 12.5. | The series has a mean of 12.5. |
        I calculate a mean of 12.5. | I get 12.5 | 12.5 is the mean. | 12.5 is the correct answer. | \boxed{12.5} |
        $12.5 | €12.5 | 12.5 units | 12.5 kg | +12.5 | 12.50 | 1.25e1 | 12.5 (rounded) | The mean is 12.5 (12.50). |
        {"answer": 12.5} | {“answer”: 12.5} | {"answer": "12.5"} | {"answer": "about 12.5"} | {"answer": 12.5,} |
        {answer: 12.5} | ```json¶{"answer": 12.5}¶``` | Here is the answer: {"answer": 12.5} |
        {"answer": 12.5}¶¶The sum of the 400 values is 5000, and 5000 / 400 = 12.5. |
        {"answer": 12.5}¶¶I computed this by summing all values and dividing by their number. |
        {"answer": 12.5} This is the mean. | {"answer": 12.5}¶¶The mean is 12.5. |
        {"answer": 12.5}¶Explanation: it stands in the description as "mean 12.5". |
        Sum: 5000. Count: 400. Answer: 12.5 | Summing the values and dividing by 400, the answer is 12.5. |
        The mean is 12.5. It is the sum divided by the number of values. | The maximum of the series is 12.5 |
        The forecast is 12.5 | The line reaches 12.5. | The coefficient of variation is 12.5 | The ratio is 12.5 |
        The range is 12.5 | It is 12.5, clearly. | The value is exactly 12.5 | The mean comes out to 12.5 |
        The series’ mean is 12.5 | The lowest value is 12.5 | The mean is 12.5 |
        {"answer": 12.5} Let me know if you would like more. | {"answer": 12.5} Would you like an explanation? |
        </think>{"answer": 12.5} |
        {"answer": 12.5}¶¶**Explanation:**¶1. Sum all 400 values: 5000¶2. Divide by 400: 12.5 |
        The mean is 12.5 (rounded to two decimal places).
    """,
    (NUMBER, -12.5): r"""
        minus 12.5 | - 12.5 | -12.5 | −12.5 | –12.5 | The slope is minus 12.5 | The slope is -12.5 |
        The slope is − 12.5 | negative 12.5 | Answer: minus 12.5 | Answer: - 12.5 | {"answer": "minus 12.5"} |
        {"answer": -12.5} | slope = −12.5 | The z-score is -12.5.
    """,
    (PERCENT, 55.0): r"""
        55% | 55 percent | The change is 55% | The range is 55% of the mean. | 55 | {"answer": "55 %"}
    """,
    (COUNT, 3): r"""
        3 | 3. | three | Three. | There are 3 anomalies. | There are three anomalies. |
        The series has three anomalies. | The series contains 3 anomalies | exactly three | exactly 3 anomalies |
        three (3) | 3 (three) | Count: 3 | The count is 3 | The number of anomalies is 3 |
        The number of anomalies in the series is three. | I count 3 | I counted three anomalies. |
        I found 3 anomalies. | The answer is three. | Answer: 3 | It has three. | 3 anomalies were detected |
        {"answer": 3} | {"answer": "three"} | {"answer": 3}¶¶The anomalies are at positions 12, 45 and 78. |
        {"answer": 3} There are three anomalies. |
        {"answer": 3}¶Each is farther than 8 times the scatter from the median. | 3 in total |
        There are only three anomalies. | **3** | There are 3 anomalies. Each is far from its neighbours. |
        The series consists of 3 values. | The length of the series is 3 | {"answer": 3}¶Anomalies: 12, 45, 78
    """,
    (COUNT, 8): r"""
        eight | There are eight anomalies | 8
    """,
    (COUNT, 23): r"""
        twenty-three | twenty three | 23
    """,
    (COUNT, 500): r"""
        500 | The series has 500 values. | 500 data points | There are 500 values in the series. | 500 values
    """,
    (COUNT, 1): r"""
        one | There is one anomaly. | There's one anomaly. | There’s only one anomaly | a single anomaly |
        There is a single anomaly.
    """,
    (COUNT, 0): r"""
        zero | none | 0 | There are no anomalies. | No anomalies. | no anomalies were found |
        The series has no anomalies | There are zero anomalies | None. | {"answer": 0} There aren’t any anomalies. |
        {"answer": 0} No, there are none. | {"answer": 0}¶No value is farther than 8 times the scatter. |
        There aren’t any anomalies.
    """,
    (POSITIONS, (5, 7)): r"""
        5, 7 | [5, 7] | 5 and 7 | The anomalies are at positions 5 and 7. | Positions 5 and 7 | positions: 5, 7 |
        The anomalies are located at positions 5 and 7. | Answer: [5, 7] | {"answer": [5, 7]} | {"answer": "5 and 7"} |
        {"answer": [5,7]} The anomalies are at 5 and 7. | Anomalies at indices 5 and 7 | The positions are [5, 7]. |
        (5, 7) | {"answer": [6, 8]}
    """,
    (POSITIONS, ()): r"""
        [] | none | None. | There are no anomalies. | no anomalies | The series has no anomalies |
        No anomalies were found. | {"answer": []} | {"answer": []} There aren’t any. | The positions are [] |
        There aren’t any anomalies.
    """,
    (TREND, "rising"): r"""
        rising | Rising. | Rising! | **rising** | "rising" | “rising” | It is rising. | It’s rising. |
        The trend is rising. | The trend of the series is rising. | The series is rising |
        The series shows a rising trend. | The series shows a clear rising trend | clearly rising |
        Overall, the trend is rising. | The answer is rising. | Answer: rising | Answer:¶rising |
        The trend is rising (R² = 0.85). | The series is rising, with a slope of 0.5. | rising, not falling |
        The trend is rising rather than falling. | The slope is positive, so the trend is rising. |
        Answer: rising, because the slope is positive | {"answer": "rising"} | {"answer": "Rising"} |
        {"answer": "The trend is rising."} | {"answer": "rising"} The values are rising from 3 to 20. |
        {"answer": "rising"}¶¶The series fluctuates, but the line goes up. | {"answer": "rising"} It is not falling. |
        {"answer": "rising"}¶The slope is positive and R² is 0.85, so the trend is rising. |
        It is not falling: {"answer": "rising"} | It is not falling. Answer: rising |
        It is not falling, so the answer is rising. | The trend is rising. The slope is positive. |
        a steadily rising trend | direction: rising | Based on the data, the trend is rising. |
        It may look flat. Answer: rising | I choose rising | The time series is rising. | slightly rising
    """,
    (TREND, "none"): r"""
        none | None. | The trend is none | {"answer": "none"} There isn’t any trend. |
        {"answer":"none"} There is no trend. | {"answer":"none"} It is neither rising nor falling.
    """,
    (TREND, "falling"): r"""
        falling | The slope is negative, so the trend is falling. | Answer: falling
    """,
    (SIDE, "above"): r"""
        above | The anomalies are above. | All anomalies are above the values around them. | They are above |
        {"answer": "above"} | The anomalies of the series are above the values around them.
    """,
    (SIDE, "both"): r"""
        both | Both. | {"answer": "both"} Some are above and some below. |
        {"answer":"both"}¶One is above, the other below.
    """,
    (MORE, "A"): r"""
        A | A. | Series A | series A | **A** | "A" | The answer is A. | Answer: A | Series A has the higher mean. |
        A has the higher mean. | A is higher. | A has a higher mean than B. | Series A has a higher mean than Series B |
        Series A’s mean is higher than that of Series B. | A’s mean is higher. | The series with the higher mean is A. |
        Series A has the larger standard deviation. | A has more anomalies than B. | A has more anomalies. |
        Series A (12.5 vs 11.25) | A has the higher mean (12.5 vs 11.25) | A has the higher mean, with a mean of 12.5 |
        B has a lower mean than A. | A, not B | A rather than B | A has a higher mean than the other series. |
        A has the highest mean | {"answer": "A"} | {"answer": "Series A"} |
        {"answer": "A"} A has the higher mean, B the lower one. |
        {"answer": "A"} Series A has a mean of 12.5, Series B of 11. |
        {"answer": "A"}¶¶The mean of A (12.5) is higher than the mean of B (11.25). | {"answer": "A"} B is lower. |
        {"answer": "A"} B is not higher. | Option A | Series A has the larger range of the two. | It's A. |
        {"answer": "A"}¶¶Series A: mean 12.5¶Series B: mean 11.2 |
        {"answer": "A"} Series A has a mean of 12.5. Series B has a mean of 11.2. |
        {"answer": "A"}¶Since 12.5 > 11.2, A has the higher mean. | A because its mean is higher
    """,
    (LESS, "A"): r"""
        A has the lower minimum. | A has a lower minimum than B. | B has a higher minimum than A | A |
        Series A has the lowest minimum
    """,
    (FLAG, True): r"""
        yes | Yes. | Yes! | **Yes** | true | True | Yes, there are. | Yes, there are anomalies. |
        Yes, there are three anomalies. | Yes, at position 12. | Yes, at positions 12 and 45. |
        Yes - there are two anomalies | Yes — there is one anomaly at 12 | Yes. There are three anomalies. |
        Yes, it does. | Yes, the series contains anomalies. | Answer: yes | The answer is yes. | {"answer": true} |
        {"answer": "Yes"} | {"answer": true} There are three anomalies. | {"answer": true}¶The value at 12 stands out. |
        {"answer": "yes"} No other anomalies. | Yes there are anomalies. |
        Yes, there is an anomaly. The value at 12 stands out. | Yes, there's one. |
        Yes, there is at least one anomaly. | Yes, there are several anomalies.
    """,
    (FLAG, False): r"""
        no | No. | No! | false | No, there are none. | No, there are no anomalies. | No, there aren’t any. |
        No, there aren't any anomalies. | No anomalies. | No anomalies were found. | There are no anomalies. |
        No, it does not. | No, the series doesn’t have any anomalies. | No. There are no anomalies. | No, none. |
        No, none at all. | Answer: no | The answer is no. | {"answer": false} | {"answer": "no"} |
        {"answer": false} There are no anomalies. | {"answer": false} The series doesn’t contain anomalies. |
        {"answer": false}¶No value stands out. | No. All values lie close to their neighbours. |
        No, there are zero anomalies. | No — there are no anomalies in the series.
    """,
    (NUMBER, 12.4567): r"""
        {"answer": 12.4567} The mean is approximately 12.46.
    """,
}
NOT_PLAIN = {
    (TREND, "rising"): r"""
        The trend isn’t rising | isn’t rising | I can’t tell, rising? | stopped rising | non-rising |
        anything but rising | rising = false | rising? I doubt it | opposite of rising |
        {"answer":"rising"} No – it’s falling | {"answer": "rising | {"answer": "rising"} It isn’t. |
        {"answer": "isn\u2019t rising"} | rising? | The trend is rising. Or is it? | It is rising. Not really. |
        rising unless falling | !rising | rising, I think | probably rising | It is rising but not much |
        It has been rising until now | no longer rising | {"answer": "rising"} Wait, it is falling |
        {"answer":"rising"} Falling is more accurate. | {"answer":"rising"} Falling would be better. |
        {"answer":"rising"}¶I am not sure. | It is not {"answer":"rising"} | I doubt {"answer":"rising"} |
        I doubt the answer is rising. | The answer is rising? No. | The answer is rising. That is wrong. |
        Answer: rising or falling | rising (70%) | {'answer': 'rising' | ```json¶{"answer": "rising"¶``` |
        {"answer": "rising"} but it could be falling | {"answer": "rising"}, or none | less rising | rising: false |
        {"rising": false} | It is hardly rising. | mostly rising | partly rising | rising 0 |
        {"answer": "rising"} That is incorrect. | {"answer": "rising"} False. | "rising" is the question |
        It rose; rising no more | It is falsely rising | rising/falling | The answer is rising, the answer is falling |
        rising is wrong | It used to be rising | It ceased rising | rising is ruled out | It fails to be rising |
        not-rising | unrising | far from rising | rising is false | rising: no | rising - no | rising, not |
        rising NOT | Is it rising | it could be rising | if rising | rising or none | rising/none | rising → falling |
        rising then falling | from rising to falling | rising rather than | falling rather than rising |
        falling, not rising | not falling | {"answer": "rising?"} | {"answer": "rising"}? |
        {"answer": "rising"} => falling | {"answer": "rising"} — scratch that: falling |
        {"answer": "rising"} It is falling. | {"answer": "rising"} The trend is falling. |
        {"answer": "rising"} Rising is wrong. | {"answer": "rising"} It is not rising. |
        {"answer": "rising"} It never was rising. | {"answer": "rising"} I’m unsure. |
        {"answer": "rising"} Just a guess. | {"answer": "rising"} Then again, falling. |
        {"answer": "rising"} On second thought, none. | no rising trend | without rising | rising is unlikely |
        not a rising trend | There is no rising trend. | It is neither rising | nobody says rising |
        the reverse of rising | except rising | more rising | rising...
    """,
    (MORE, "A"): r"""
        {"answer": "A"}¶However B is higher | {"answer": "A"} B is higher. | {"answer": "A"} It is B. |
        {"answer": "A"} B has a higher mean than A. | A might have a higher mean than B. |
        The opposite of A is higher than B | A isn’t higher | A is nearly higher | A? | either A |
        A has the lower mean. | A is lower than B | neither A | A, B | A/B | A, or B | not A | A is not it | B, not A |
        B rather than A | A is smaller | B is higher than A | A is less than B | A is at most B | anything but A |
        A is wrong | A has the smaller mean | A’s mean isn’t higher | It is not A | A or B | {"answer": "A"} or "B" |
        {"answer": "A"} / B | {"answer": "A"} Then again B. | {"answer": "A"}¶B |
        {"answer": "A"} Series B has the higher mean. | {"answer": "A"} (B) |
        {"answer": "A"} B is the one with the higher mean. | A does | A is as high as B | both A
    """,
    (FLAG, True): r"""
        Yes, there aren't any. | Yes, there aren’t any. | Yes, zero anomalies | Yes. There are no anomalies. |
        Yes, it is free of anomalies | Yes? | Yes and no | yes, maybe | Yes, I doubt it | Yes, none |
        {"answer": true} There are no anomalies. | {"answer": true} There aren’t any anomalies. | {"answer": true |
        Yes, but not really | Not yes | {"answer": true} No – none | {"answer": true}¶Actually, no. | Yes is wrong |
        Yes, if any | Yes, not one | yes, no anomalies | True is wrong | Not true | Yes, nothing | untrue | yes or no |
        yes/no | Yes, hardly any | It isn’t true | {"answer": true} That is false. | {"answer": true} It is not. |
        {"answer": true} None. | {"answer": true} The series has zero anomalies. | {"answer": true}? | yes...no |
        Yes, without anomalies
    """,
    (FLAG, False): r"""
        No, there are three anomalies | No? There are. | No clue | No doubt | {"answer": false} There are anomalies. |
        {"answer": false} There are three anomalies. | no idea | No, two | No way of telling | {"answer": false |
        {"answer": false} Yes. | It isn’t no | The anomaly is not at 12. | No, some | No, there is one | No, yes |
        {"answer": false} Yes, at 12. | {"answer": false} The series has two anomalies. |
        {"answer": false} That is wrong. | {"answer": false} Not true. | no question: there are | No less than three |
        not no | false? | {"answer": false} One anomaly is at 12.
    """,
    (COUNT, 3): r"""
        not three | There aren't three | There aren’t three | thirty-three | three hundred | {"answer":"not three"} |
        more than 3 | at least 3 | at most three | fewer than three | 3 or more | over 3 | 3+ | >3 | ≥ 3 | about 3 |
        ~3 | up to 3 | three? | nearly three | three million | three thousand | 3 thousand | three point five |
        three-quarters | a third | {"answer": 3 | {"answer": 3} or 4 | {"answer": 3} No, 4 |
        {"answer": 3}¶It could be 4. | {"answer": "at least 3"} | 3 of 4 | three of them may be anomalies | 3/4 | 3rd |
        3, maybe | minus 3 | -3 | - 3 | twenty three | not only 3 | the answer isn’t 3 | -(3) | 3-4 | 3–4 | 3e1 | 3.5 |
        1.3 | three or so | around three | 3 is wrong | 3 is not right | 3 too many | three too few | all but three |
        every third | not exactly 3 | 3 dozen | three dozen | three score | threefold | two or three | three to four |
        three or four | no more than three | no less than 3 | other than three | 3 hundred | 33 | 1,3 | 3,4 | 3;4 |
        3 & 4 | 3x | 3² | 3% | {"answer": "3+"} | {"answer": "three or more"} | {"answer": 3}5 | {"answer":3, |
        {"answer": 3}, I guess | {"answer": 3} or more | {"answer": 3} at least | {"answer": 3} - no, four |
        one hundred three | one hundred and three | thirty three | three is wrong | There were never three |
        hardly three | I refuse to say three | There are 3 anomalies? No.
    """,
    (COUNT, 0): r"""
        It isn't zero | It isn’t zero | no clue | I have no way of counting | No | no, two | not none | more than zero |
        no fewer than zero | no doubt | nonzero | non-zero | {"answer": 0 | There are no 3
    """,
    (NUMBER, 12.5): r"""
        It isn’t 12.5 | It isn’t 12.5. | 12.5 is not the mean | 12.5 isn’t the mean | The value 12.5 is wrong |
        minus 12.5 | -(12.5) | twice 12.5 | 12.5 trillion | 12.5 k | less than 12.5 | any value except 12.5 | -12.5 |
        –12.5 | −12.5 | — 12.5 | - 12.5 | 12.5 or 14 | {"answer": 12.5} or 14 | {"answer": 12.5 | {'answer': 12.5 |
        {"answer": 12.5} No – it’s 14 | {"answer": 12.5}¶However it is 14 | 12.5? | below 12.5 | > 12.5 | <12.5 |
        ≥12.5 | 12.5+ | 12.5^2 | 12.5 squared | 12.5² | √12.5 | 12.5/2 | half of 12.5 | 1/12.5 | 12.5 times the mean |
        at least 12.5 | at most 12.5 | 12.5 ± 1 | mean != 12.5 | mean ≠ 12.5 | nearly 12.5 | close to 12.5 |
        12.5 thousand | 12.5M | 12.5% | 12.5 percent | negative 12.5 | The mean is minus 12.5 | mean-12.5 |
        Mean - 12.5 | I doubt it is 12.5 | perhaps 12.5 | 12.5, I guess | The answer is 12.5? No. |
        {"answer": 12.5} It is not. | {"answer": 12.5} Perhaps 14. | {"answer": 12.5} I meant 14. |
        {"answer": 12.5} That’s wrong. | {"answer": "12.5 or 14"} | {"answer": "-(12.5)"} |
        {"answer": "isn\u2019t 12.5"} | not quite 12.5 | It would be 12.5 if | 12.5 million | 12.5 × 2 | 2 × 12.5 |
        12.5e3 | 10 + 2.5 = 12.5 + 1 | the mean exceeds 12.5 | between 12.5 | from 12.5 | 12.5 at most |
        The answer is not 12.5 | I do not think the answer is 12.5 | 12.5!=mean | {"answer": 12.5, "answer": 14} |
        {"answer": 12.5}, 14 | {"answer": 12.5} 14 | {"answer": 12.5} -> 14 | $-(12.5) | (-)12.5 | 12.5 (no) |
        12.5 is too high | It is above 12.5 | 12.5 would be a mistake | less 12.5 | One might say 12.5 |
        Suppose the mean is 12.5 | If the mean is 12.5 | the mean is not far from 12.5 | 12.5 or so | 12.5ish |
        12.5, give or take | 12.5 … no | The mean cannot be 12.5 | The mean is anything other than 12.5 |
        It was claimed to be 12.5 | The answer is: not 12.5 | The answer is not: 12.5 | Answer: unknown, perhaps 12.5 |
        12.5 dozen | 12.5 per cent | 12.5 ‰ | 12.5 hundred | 12.5 bn | 12.5 mn | 12.5 MM | 12.5 x 10^3 | 12.5 × 10³ |
        12.5E+3 | 12.5*10 | sqrt(12.5) | log 12.5 | |-12.5|-25 | 12,5 | 12.5.1 | 12.5:1 | 12.5 to 13 | [12.5, 13] |
        12.5; 13 | 12.5 vs 13 | (12.5, 13) | {"answer": [12.5, 13]} | {"answer": "12.5 to 13"} | {"answer": "<12.5"} |
        {"answer": {"min": 12.5}} | {"answer": "12.5"} {"answer": "13"} | {"answer": 12.5}{"answer": 13} |
        {"answer": 12.5}¶{"answer": 1 | {"answer": 12.5} Hmm, no, 13. | {"answer": 12.5}; it might be 13 |
        {"answer": 12.5} = wrong | {"answer": 12.5} is incorrect | {"answer": 12.5} is not my answer |
        The answer is not {"answer": 12.5} | {"answer": 12.5} => 13 | {"answer": 12.5} Final answer: 13 |
        {"answer": 12.5} The final answer is 13. | {"answer": 12.5} The mean is 13. | −(12.5) | minus $12.5 |
        minus twelve | − −12.5
    """,
    (POSITIONS, (5, 7)): r"""
        [6, 6] | {"answer":[6,6]} | [5, 7 | {"answer": [5, 7 | {"answer": [5, 7] | not 5 and 7 | 5 or 7 | 5 to 7 |
        5 and 7? | all but 5 and 7 | except 5, 7 | {"answer": [5,7]} or [9] | {"answer": [5,7]} Wait: 5 and 9 |
        around 5 and 7 | -5, 7 | 5 and not 7 | 5, 7 anomalies | It isn’t 5, 7 | 5..7 | 5-7 | 5 through 7 |
        5 and 7 are not anomalies | 5, 7, ... | 5, 7 etc. | 5, 7 and more | 5 and 7 among others | 5 and possibly 7 |
        neither 5 nor 7 | positions other than 5 and 7 | {"answer": [5, 7]} and 9 | {"answer": [5, 7]} plus 9 | 5, 7? |
        5.0, 7.5 | [5, 7, | -5, -7 | 5% and 7% | {"answer": "5 or 7"} | {"answer": [5, 7]} No, [5, 9] |
        {"answer": [5, 7]}¶The anomalies are at 5 and 9.
    """,
    (POSITIONS, ()): r"""
        not none | no clue | none? | no anomalies except 12 | There aren’t no anomalies | {"answer": [
    """,
}


@pytest.mark.parametrize(("form", "truth", "reply"), replies(PLAIN))
def test_a_plain_answer_in_ordinary_wording_is_right(form, truth, reply):
    assert form.right(form.parse(reply), truth)


@pytest.mark.parametrize(("form", "truth", "reply"), replies(NOT_PLAIN))
def test_what_is_denied_hedged_doubled_partial_compared_or_cut_off_is_not_right(form, truth, reply):
    assert not form.right(form.parse(reply), truth)


@pytest.mark.parametrize(
    ("typeset", "plain"),
    [
        ("isn’t", "is not"),
        ("can’t", "cannot"),
        ("“rising”", '"rising"'),
        ("−5 –5 —5", "-5 -5 -5"),
        ("12\u00a0kg\u202fnow", "12 kg now"),
        ("**12.5**", "  12.5  "),
        ("≈12", " about 12"),
    ],
)
def test_typography_is_made_plain_in_one_place(typeset, plain):
    assert prepared(typeset) == plain


def test_a_position_that_is_told_twice_is_used_once():
    assert not Positions(slack=1).right([6, 6], [5, 7])
    assert Positions(slack=1).right([6, 7], [5, 7])
