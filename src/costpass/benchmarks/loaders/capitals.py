"""Capitals of well-known countries, with every name that counts as right; the grader lets accents be."""

from decimal import Decimal

from costpass.benchmarks.cells import Row, required, text
from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.problem import Problem

# Only countries whose capital nobody disputes and which has one seat of government.
_CAPITALS = """
Argentina: Buenos Aires
Australia: Canberra
Austria: Vienna
Bangladesh: Dhaka
Belgium: Brussels
Brazil: Brasília
Bulgaria: Sofia
Cambodia: Phnom Penh
Canada: Ottawa
Chile: Santiago
China: Beijing, Peking
Colombia: Bogotá
Croatia: Zagreb
Cuba: Havana
Czechia: Prague
Denmark: Copenhagen
Ecuador: Quito
Egypt: Cairo
Estonia: Tallinn
Ethiopia: Addis Ababa
Finland: Helsinki
France: Paris
Germany: Berlin
Ghana: Accra
Greece: Athens
Hungary: Budapest
Iceland: Reykjavík
India: New Delhi
Iran: Tehran
Iraq: Baghdad
Ireland: Dublin
Italy: Rome
Jamaica: Kingston
Japan: Tokyo
Kenya: Nairobi
Latvia: Riga
Lebanon: Beirut
Lithuania: Vilnius
Mexico: Mexico City
Mongolia: Ulaanbaatar, Ulan Bator
Morocco: Rabat
Nepal: Kathmandu
New Zealand: Wellington
Nigeria: Abuja
Norway: Oslo
Pakistan: Islamabad
Peru: Lima
Philippines: Manila
Poland: Warsaw
Portugal: Lisbon
Romania: Bucharest
Russia: Moscow
Saudi Arabia: Riyadh
Senegal: Dakar
Slovakia: Bratislava
South Korea: Seoul
Spain: Madrid
Sweden: Stockholm
Thailand: Bangkok
Turkey: Ankara
Ukraine: Kyiv, Kiev
United Kingdom: London
Uruguay: Montevideo
Vietnam: Hanoi
"""


def _rows() -> tuple[Row, ...]:
    lines = (line.partition(": ") for line in _CAPITALS.split("\n") if line)
    return tuple({"country": country, "capital": capitals.split(", ")} for country, _, capitals in lines)


def problem(row: Row, number: int, seed: int) -> Problem:  # noqa: ARG001 - every loader is asked in the same way
    country, capital = text(required(row, "country")), required(row, "capital")
    names = [text(name) for name in capital] if isinstance(capital, list) else [text(capital)]
    return Problem(
        id=country,
        question=f"What is the capital of {country}?",
        target=names if len(names) > 1 else names[0],
        reading="text",
    )


LOADER = Loader(
    name="capitals",
    about="capitals of well-known countries, bundled",
    grader="word",
    reading="text",
    # Our own price: three seconds at $20 an hour.
    expert=ExpertPrice(hourly_usd=Decimal(20), minutes=Decimal("0.05")),
    typical=Typical(problems=64, input_tokens=50, output_tokens=20),
    columns=("country", "capital"),
    problem=problem,
    rows=_rows(),
)
