"""Names of the months in the languages of our documents. Data."""

from batchwork.evidence.vocabulary.words import fold

_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen januari janeiro",
    "february feb februar février févr fév febrero febbraio februari fevereiro fev",
    "march mar märz mär mrz mars marzo maart mrt março",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag mei maio",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
)
MONTHS: dict[str, int] = {fold(name): month for month, names in enumerate(_NAMES, start=1) for name in names.split()}
