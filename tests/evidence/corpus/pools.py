"""Names, amounts and ways to write them, for the labelled documents."""

import random
from datetime import date, timedelta
from decimal import Decimal

COMPANIES = [
    "Harbour Freight Partners", "Lindqvist & Sohn GmbH", "Crescent Bay Foods", "Ostrava Steelworks", "Müller Präzision AG",
    "Société Générale de Peinture", "Blue Finch Analytics", "Tern & Gull Ltd", "Pacific Rim Imports", "Ashdown Dairy",
    "Nordlys Energi", "Calderón Hermanos", "Ridgeline Outdoor Co.", "Fairweather Insurance", "O'Neill Drafting",
    "Kowalski Transport", "Summit Dental Care", "Vermeer Optics", "Grüne Wiese eG", "Atlas Cold Storage",
]  # fmt: skip
PEOPLE = [
    "Margaret Osei", "José Álvarez", "Tomasz Zieliński", "Priya Raman", "Hannah Weiß", "Liam O'Connor", "Chloé Dubois",
    "Samuel Adeyemi", "Ingrid Solberg", "Marco Bianchi", "Yuki Tanaka", "Fatima Haddad", "Peter Novák", "Rosa Delgado",
]  # fmt: skip
STREETS = [
    "14 Quay Street",
    "2207 Larkspur Avenue",
    "9 Cobbler's Row",
    "Industrieweg 31",
    "58 Rue Lepic",
    "401 Summit Blvd",
]
CITIES = ["Dover, DE 19901", "Bristol BS1 5TR", "50667 Köln", "75018 Paris", "Boise, ID 83702", "Leeds LS2 7EY"]
GOODS = [
    "Hex bolts M10", "Copper pipe 22 mm", "Oak veneer sheet", "Office chair", "Label printer", "Solvent cleaner", "Drill press",
    "Cable drum", "Roof membrane", "LED floodlight", "Pump seal kit", "Safety helmet", "Paper towel roll", "Water filter",
    "Steel angle 40x40", "Desk lamp", "Rubber gasket", "Paint primer", "Air compressor", "Torque wrench",
]  # fmt: skip
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
MONATE = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
]


def day(dice: random.Random, start: date = date(2023, 1, 1), span: int = 900) -> date:
    return start + timedelta(days=dice.randrange(span))


def clear_day(dice: random.Random, start: date = date(2023, 1, 1), span: int = 900) -> date:
    """A day that cannot be read the other way round."""
    while (found := day(dice, start, span)).day <= 12:
        pass
    return found


def murky_day(dice: random.Random, start: date = date(2023, 1, 1), span: int = 900) -> date:
    """A day that can be read both ways."""
    while (found := day(dice, start, span)).day > 12 or found.day == found.month:
        pass
    return found


def swapped(found: date) -> date:
    return date(found.year, found.day, found.month)


def us_long(found: date) -> str:
    return f"{MONTHS[found.month - 1]} {found.day}, {found.year}"


def uk_long(found: date) -> str:
    return f"{found.day} {MONTHS[found.month - 1]} {found.year}"


def short(found: date) -> str:
    return f"{found.day:02d}-{MONTHS[found.month - 1][:3]}-{found.year}"


def german(found: date) -> str:
    return f"{found.day}. {MONATE[found.month - 1]} {found.year}"


def dots(found: date) -> str:
    return f"{found.day:02d}.{found.month:02d}.{found.year}"


def slash_us(found: date) -> str:
    return f"{found.month:02d}/{found.day:02d}/{found.year}"


def slash_uk(found: date) -> str:
    return f"{found.day:02d}/{found.month:02d}/{found.year}"


def money(dice: random.Random, low: int = 2_000, high: int = 900_000) -> Decimal:
    return Decimal(dice.randint(low, high)) / 100


def us(amount: Decimal, places: int = 2) -> str:
    return f"{amount:,.{places}f}"


def eu(amount: Decimal, places: int = 2) -> str:
    return f"{amount:,.{places}f}".translate(str.maketrans(",.", ".,"))


def fr(amount: Decimal) -> str:
    return f"{amount:,.2f}".replace(",", "\u202f").replace(".", ",")


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"))
