"""Write the German and Spanish sentences of docs/samples again: `python scripts/samples.py`.

All of it is ours: sentences with gaps, written for this purpose, and words that fill them, drawn with a fixed seed.
"""

import random
import re
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "docs" / "samples"


class Writer:
    """Fills `{gap}` in sentences with words of `fillers["gap"]`; each sentence and each word is drawn at random."""

    def __init__(self, seed: int, fillers: dict[str, str]) -> None:
        self.random = random.Random(seed)
        self.fillers = {gap: [word.strip() for word in words.split("|")] for gap, words in fillers.items()}

    def fill(self, sentence: str) -> str:
        def drawn(match: re.Match[str]) -> str:
            return self.fill(self.random.choice(self.fillers[match[1]]))

        return re.sub(r"\{(\w+)\}", drawn, sentence)

    def one(self, sentences: list[str]) -> str:
        text = self.fill(self.random.choice(sentences))
        return f"{text[0].upper()}{text[1:]}."


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def write_lines(name: str, documents: list[str]) -> None:
    (SAMPLES / name).write_text("\n".join(documents) + "\n", encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------- German

GERMAN = {
    "küche": """
        die {koch} kocht {essen} mit {zutat} und {zutat}
        wir essen heute {essen} mit {zutat} zum Abendessen
        in der Küche duftet es nach {zutat} und frischer {zutat}
        für {essen} braucht man {zutat}, {zutat} und etwas Salz
        der Kellner bringt {essen} und ein Glas Wein an den Tisch
        {essen} schmeckt mit {zutat} am besten, sagt die {koch}
    """,
    "fußball": """
        der {spieler} schießt in der {minute} ein Tor
        die Mannschaft gewinnt das Spiel, und der {spieler} jubelt im Stadion
        nach dem Foul zeigt der Schiedsrichter dem {spieler} die Karte
        der Trainer lobt den {spieler} nach dem Spiel der {liga}
        im Stadion feiern die Fans den {spieler} und das Tor
        ohne den {spieler} verliert die Mannschaft das Spiel in der {liga}
    """,
    "praxis": """
        der Arzt verschreibt dem Patienten {mittel} gegen {leiden}
        die Patientin klagt über {leiden} und nimmt {mittel}
        gegen {leiden} hilft {mittel}, sagt die Ärztin
        nach der Operation bekommt der Patient {mittel} gegen {leiden}
        im Krankenhaus behandelt die Ärztin {leiden} mit {mittel}
        die Apotheke verkauft {mittel} gegen {leiden} nur mit Rezept
    """,
    "bahn": """
        der {zug} fährt um acht Uhr vom {ort} nach {stadt}
        am {ort} warten Reisende auf den {zug} nach {stadt}
        wegen des Sturms hat der {zug} nach {stadt} Verspätung
        eine Fahrkarte für den {zug} nach {stadt} gibt es am {ort}
        der Schaffner kontrolliert im {zug} nach {stadt} die Fahrkarte
        zwischen {stadt} und {stadt} hält der {zug} an jedem {ort}
    """,
}
GERMAN_WORDS = {
    "koch": "Köchin|Großmutter|Wirtin|Tante",
    "essen": "Suppe|Kartoffeln|Nudeln|Braten|Fisch|Gemüse|Eintopf|Klöße",
    "zutat": "Zwiebeln|Butter|Knoblauch|Petersilie|Sahne|Pfeffer|Käse|Pilzen|Möhren",
    "spieler": "Stürmer|Torwart|Verteidiger|Kapitän|Mittelfeldspieler",
    "minute": "ersten Minute|letzten Minute|zweiten Halbzeit|Verlängerung",
    "liga": "Liga|Bundesliga|Saison|Meisterschaft",
    "mittel": "Tabletten|Salbe|Tropfen|Spritzen|Antibiotika|Hustensaft",
    "leiden": "Fieber|Husten|Schmerzen|Grippe|Kopfschmerzen|Bluthochdruck|Entzündungen",
    "zug": "Zug|Nachtzug|Schnellzug|Bus|Regionalzug",
    "ort": "Bahnhof|Bahnsteig|Gleis|Hauptbahnhof",
    "stadt": "Berlin|Hamburg|München|Köln|Dresden|Leipzig",
}
GERMAN_NEW = lines("""
    Die Köchin kocht Blorpsuppe mit Zwiebeln und Sahne.
    Zum Abendessen gibt es Blorpsuppe mit Butter und Petersilie.
    Der Arzt verschreibt dem Patienten Flurvelin gegen Fieber und Husten.
    Die Apotheke verkauft Flurvelin gegen Kopfschmerzen.
    Der Schnorzug fährt vom Hauptbahnhof nach München und hat Verspätung.
    Am Bahnsteig warten Reisende auf den Schnorzug nach Köln.
""")


# --------------------------------------------------------------------------------------------------------- Spanish

SPANISH = {
    "cocina": """
        la {cocinera} prepara {plato} con {ingrediente} y {ingrediente}
        hoy cenamos {plato} con {ingrediente} y un vaso de vino
        en la cocina huele a {ingrediente} y a {ingrediente}
        para hacer {plato} hacen falta {ingrediente}, {ingrediente} y sal
        el camarero trae {plato} y pan a la mesa
    """,
    "fútbol": """
        el {jugador} marca un gol en el {minuto}
        el equipo gana el partido y el {jugador} celebra en el estadio
        el árbitro muestra la tarjeta al {jugador} en el {minuto}
        el entrenador felicita al {jugador} después del partido
        sin el {jugador}, el equipo pierde el partido de la {liga}
    """,
    "consulta": """
        el médico receta {remedio} al paciente contra la {dolencia}
        la paciente tiene {dolencia} y toma {remedio}
        contra la {dolencia}, la doctora recomienda {remedio}
        después de la operación, el paciente recibe {remedio}
        la farmacia vende {remedio} contra la {dolencia} con receta
    """,
    "tren": """
        el {tren} sale de la {lugar} de {ciudad} a las ocho
        los viajeros esperan el {tren} a {ciudad} en la {lugar}
        por la tormenta, el {tren} a {ciudad} llega con retraso
        el billete para el {tren} a {ciudad} se compra en la {lugar}
        entre {ciudad} y {ciudad} el {tren} para en cada {lugar}
    """,
}
SPANISH_WORDS = {
    "cocinera": "cocinera|abuela|tía|vecina",
    "plato": "sopa|paella|tortilla|pescado|lentejas|guiso|verduras",
    "ingrediente": "cebolla|ajo|aceite|tomate|pimienta|perejil|queso|arroz",
    "jugador": "delantero|portero|defensa|capitán|centrocampista",
    "minuto": "primer minuto|último minuto|segundo tiempo|descuento",
    "liga": "liga|copa|temporada",
    "remedio": "pastillas|jarabe|gotas|antibióticos|una pomada",
    "dolencia": "fiebre|tos|gripe|infección|inflamación|migraña",
    "tren": "tren|autobús|expreso|tren nocturno",
    "lugar": "estación|parada|terminal",
    "ciudad": "Madrid|Sevilla|Valencia|Bilbao|Zaragoza",
}
SPANISH_NEW = lines("""
    La abuela prepara blorpada con cebolla y ajo.
    Hoy cenamos blorpada con aceite y queso.
    El médico receta flurvelina al paciente contra la fiebre.
    La farmacia vende flurvelina contra la tos con receta.
    El ñandutrén sale de la estación de Sevilla con retraso.
    Los viajeros esperan el ñandutrén a Bilbao en la parada.
""")


def language(name: str, seed: int, sentences: dict[str, str], words: dict[str, str], new: list[str]) -> None:
    writer = Writer(seed, words)
    topics = [lines(text) for text in sentences.values()]
    write_lines(f"{name}.txt", [writer.one(writer.random.choice(topics)) for _ in range(800)])
    write_lines(f"{name}-new.txt", new)


def german() -> None:
    language("german", 5, GERMAN, GERMAN_WORDS, GERMAN_NEW)


def spanish() -> None:
    language("spanish", 6, SPANISH, SPANISH_WORDS, SPANISH_NEW)


def main() -> None:
    SAMPLES.mkdir(exist_ok=True)
    for write in (german, spanish):
        write()
    for path in sorted(SAMPLES.glob("*.txt")):
        print(f"{path.stat().st_size:>7,} {path.name}")


if __name__ == "__main__":
    main()
