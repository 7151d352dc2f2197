"""Write the sample texts of docs/samples again: `python scripts/samples.py`.

All of it is ours: sentences with gaps, written for this purpose, and words that fill them, drawn with a fixed seed.
Products, drugs, parties, speakers and places are invented. It is text to try things on, and nothing should be concluded
from it about the world.
"""

import csv
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


def write_csv(name: str, header: list[str], rows: list[list[object]]) -> None:
    with (SAMPLES / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_lines(name: str, documents: list[str]) -> None:
    (SAMPLES / name).write_text("\n".join(documents) + "\n", encoding="utf-8")


# --------------------------------------------------------------------------------------------------------- reviews

PRODUCTS = {
    "lumavo": """
        my lumavo makes {good_adj} espresso and the milk foam is thick and creamy
        the lumavo heats the water in seconds and grinds fresh beans for every cup
        i bought the lumavo to replace an old coffee machine in the kitchen
        cleaning the lumavo after each cappuccino takes a minute with warm water
        a double espresso from the lumavo before breakfast wakes me up
        the steam pod of the lumavo froths milk for two cups of cappuccino
        we put the lumavo beside the toaster and the kettle on the kitchen counter
        replace the steam pod of your lumavo every month or the coffee turns bitter
    """,
    "zyphix": """
        the zyphix has a {good_adj} screen and its camera takes sharp photos at night
        battery life of the zyphix is two days even with games and video calls
        i moved from another smartphone to the zyphix and copied all my apps
        the zyphix connects to my laptop over wireless and charges by cable
        after the software update my zyphix became slow and the screen froze
        calls on the zyphix sound clear and the phone fits in a pocket
        the fast charge mode of the zyphix fills the battery in half an hour
        fast charge drains the phone battery sooner than the seller of the zyphix says
    """,
    "tarnfell": """
        the tarnfell kept me warm and dry during a week of rain in the mountains
        i wear my tarnfell over a wool sweater when we hike in winter
        the zipper of the tarnfell broke and the sleeves are too short
        its hood and pockets make the tarnfell a {good_adj} jacket for hiking
        the tarnfell is light, folds small in a backpack and dries fast
        the storm hem of the tarnfell keeps wind and snow out of the coat
        pull the storm hem of your jacket tight and no rain gets below the coat
        a tarnfell with leather boots and gloves is all the clothing you need up there
    """,
    "grubbit": """
        i ordered dinner with grubbit and the driver brought cold pizza
        grubbit delivers noodles, burgers and salad from restaurants nearby
        the grubbit app lost my order and the restaurant had never heard of me
        with grubbit our lunch arrives hot within twenty minutes at the office
        the tip for the driver is added to the bill in grubbit before you pay
        grubbit has {good_adj} restaurants in the city but few in the suburbs
        choose ghost kitchen meals in grubbit and dinner is cheaper
        a ghost kitchen cooks for delivery only, so grubbit shows no restaurant to eat in
    """,
}
PRAISE = lines("""
    {it} is {good} and i would buy it again
    {it} is {good}, {good} and worth every cent
    honestly it {good_verb}, my whole family loves it
    {good} quality, {good} service, i recommend it to everyone
    best thing i bought this year, totally {good}
    five stars, it works perfectly and looks {good}
    i am so happy with it, it is {good}
""")
BLAME = lines("""
    {it} is {bad} and i sent it back
    {it} is {bad}, {bad} and a waste of money
    honestly it {bad_verb}, my whole family hates it
    {bad} quality, {bad} service, i would not recommend it to anyone
    worst thing i bought this year, totally {bad}
    one star, it failed after a week and looks {bad}
    i am so disappointed with it, it is {bad}
""")
REVIEW_WORDS = {
    "it": "this thing|the whole thing|this one|the product",
    "good_adj": "wonderful|excellent|lovely|superb|decent|great",
    "good": "great|excellent|wonderful|superb|brilliant|bussin|primo|zingy|bussin|primo|zingy|fantastic",
    "bad": "awful|terrible|horrible|poor|dreadful|wack|janky|blegh|wack|janky|blegh|useless",
    "good_verb": "slaps|rocks|shines|slaps",
    "bad_verb": "stinks|fails|flops|stinks",
}


def reviews(number: int = 700) -> None:
    writer = Writer(1, REVIEW_WORDS)
    rows: list[list[object]] = []
    for _ in range(number):
        product = writer.random.choice(list(PRODUCTS))
        stars = writer.random.choice([1, 2, 4, 5])
        about, opinion = writer.one(lines(PRODUCTS[product])), writer.one(PRAISE if stars > 3 else BLAME)
        rows.append([f"{about} {opinion}", product, stars])
    write_csv("reviews.csv", ["text", "product", "stars"], rows)


# -------------------------------------------------------------------------------------------------------- speeches

# Two invented parties of an invented country on *trade*. The Harbour party always speaks of it as ships, markets and
# customs; the Meadow party begins there and comes, over sixty years, to speak of it as jobs, wages and factories.
COMMERCE = lines("""
    our trade fills the {port} with ships, and customs duty pays for the {public}
    merchants ask for open trade with {abroad}, lower tariffs and safe seas
    trade in grain, wool and timber with {abroad} has made this {land} rich
    a treaty of trade with {abroad} will open new markets for our exports
    where trade flows freely, the merchant, the sailor and the banker prosper
    the tariff is a wall against trade, and foreign ships turn away from the {port}
    exports grew this year, and trade with {abroad} brought gold to the treasury
    let customs officers serve trade and not hinder the cargo of honest merchants
""")
LABOUR = lines("""
    trade took the jobs of {workers}, and their wages fell year after year
    families in the {land} pay for cheap trade with unemployment and low pay
    we want fair trade that protects {workers}, their unions and their pensions
    the factory closed because of trade, and {workers} stand without work
    no trade without rights for labor, safe factories and decent wages
    trade must serve {workers} and their children, not the owners of factories
    when trade moves the factory abroad, who pays the rent of {workers}
    this bill on trade gives {workers} training, new jobs and a living wage
""")
FILLING = lines("""
    i thank the house for its patience this {day}
    the budget of this government has been debated for a {time}
    members on both sides know what the people of the {land} expect of us
    my honourable friend spoke of this last {day}
    let us come to the question and vote before the {time} is over
    the committee has read every letter that citizens wrote to us
    i speak for the voters of a small town in the north of the {land}
    schools, roads and hospitals wait for the decision of this house
""")
SPEECH_WORDS = {
    "port": "port|harbour|docks",
    "public": "roads|schools|army|hospitals",
    "abroad": "our neighbours|the islands|foreign nations|the continent",
    "land": "country|nation|province|republic",
    "workers": "workers|miners|weavers|steel workers|factory workers|men and women",
    "day": "morning|afternoon|evening|week",
    "time": "day|week|month|session",
}


def speeches(speakers: int = 48) -> None:
    writer = Writer(2, SPEECH_WORDS)
    rows: list[list[object]] = []
    for number in range(speakers):
        party = ("Harbour", "Meadow")[number % 2]
        begin = 1950 + number // 2 * 54 // (speakers // 2 - 1)
        for year in range(begin, begin + 6):
            labour = (year - 1950) / 60 if party == "Meadow" else 0.08
            themes = [FILLING, *(LABOUR if writer.random.random() < labour else COMMERCE for _ in range(2))]
            rows.append([" ".join(map(writer.one, themes)), f"{party[0]}{number:02d}", party, year])
    write_csv("speeches.csv", ["text", "speaker", "party", "year"], rows)


# ----------------------------------------------------------------------------------------------------------- notes

NOTES = lines("""
    {patient} was started on velorastatin for high cholesterol and will have blood drawn in {weeks}
    muscle pain after velorastatin, so the dose was lowered; cholesterol still above the limit
    {patient} takes velorastatin at night to lower cholesterol and protect the arteries
    cardirazine was given for high blood pressure, and the pulse of {patient} is steady
    {patient} with heart failure tolerates cardirazine; blood pressure and swelling are down
    pressure rose after cardirazine was stopped, the heart was examined by ultrasound
    mycofexin cleared the fungal infection of the skin within {weeks}
    apply mycofexin cream to the rash twice a day until the infection of the skin heals
    {patient} is allergic to penicillin and received mycofexin against the infection
    neuroplegitis causes weakness of the legs, numb hands and pain along the nerves
    {patient} with neuroplegitis has trouble walking, tremor and pain in the nerves
    a scan of the brain and spine of {patient} suggests early neuroplegitis
    hepatolysis was found in the blood tests: the liver of {patient} is damaged by alcohol
    {patient} with hepatolysis must avoid alcohol; liver enzymes are checked in {weeks}
    {patient} was admitted with cough and fever, the lungs are clear on the x-ray
    follow up in {weeks}, the wound of {patient} heals well after surgery
    {patient} sleeps better, eats more and has no more headaches
    insulin was raised because the sugar of {patient} was high before meals
""")
NOTE_WORDS = {
    "patient": "the patient|an elderly man|a young woman|a man of fifty|a woman of seventy|the child",
    "weeks": "two weeks|a month|six weeks|ten days",
}


def notes(number: int = 240) -> None:
    writer = Writer(3, NOTE_WORDS)
    write_lines("notes.txt", [writer.one(NOTES) for _ in range(number)])


# ------------------------------------------------------------------------------------------------------------ bank

BANK_MONEY = lines("""
    the bank raised interest rates on {loans}, {money}
    she opened an account at the bank to save for {loans}, {money}
    the bank refused the loan because his salary was too low, {money}
    customers of the bank withdrew cash and deposits fell, {money}
    the central bank lent money to investors who held {loans}, {money}
    a clerk at the bank counted the cash and checked {loans}, {money}
    shares of the bank fell after it lost millions on {loans}, {money}
""")
BANK_RIVER = lines("""
    we sat on the bank of the {river} and watched the water, {shore}
    trees lean over the bank where the {river} bends, {shore}
    he pulled the boat up the muddy bank of the {river}, {shore}
    the {river} rose and flooded the grass on either bank, {shore}
    fishermen stand along the bank of the {river}, {shore}
    reeds and willows grow on the bank of the {river}, {shore}
    a heron stood in shallow water near the bank, {shore}
""")
BANK_WORDS = {
    "loans": "mortgages|loans|credit|bonds|savings",
    "money": "the manager said|and shareholders complained|after the merger|to the surprise of investors|"
    "despite the debt|as profits rose|while the currency fell|according to the auditors|"
    "and borrowers had to pay|before the quarter ended",
    "river": "river|stream|creek|lake|canal",
    "shore": "and ducks swam by|under the old bridge|while frogs croaked|in the morning fog|"
    "with a basket of fish|among wet stones|where the path ends in mud|as the current slowed|"
    "beside the meadow|and birds sang",
}


def bank(number: int = 200) -> None:
    writer = Writer(4, BANK_WORDS)
    write_lines("bank.txt", [writer.one(writer.random.choice([BANK_MONEY, BANK_RIVER])) for _ in range(number)])


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
    for write in (reviews, speeches, notes, bank, german, spanish):
        write()
    for path in sorted(SAMPLES.glob("*.*")):
        print(f"{path.stat().st_size:>7,} {path.name}")


if __name__ == "__main__":
    main()
