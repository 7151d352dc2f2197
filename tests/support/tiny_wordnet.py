"""A WordNet of some synsets in Princeton's file format, with byte offsets that are right, and a tiny SemCor."""

# name → (pos, lexicographer file, [(lemma, lex id)], [(pointer, target)], gloss)
SYNSETS = {
    "shore": ("n", 17, [("bank", 1)], [("@", "slope")], 'sloping land beside water; "they fished from the bank"'),
    "money": ("n", 14, [("depository", 0), ("bank", 0)], [("@", "group")], 'an institution that keeps money; "a loan"'),
    "slope": ("n", 17, [("slope", 0)], [], "an elevated formation"),
    "group": ("n", 3, [("group", 0), ("grouping", 0)], [], "any number of entities"),
    "head_of_state": ("n", 18, [("head_of_state", 0)], [], "the leader of a state"),
    "goose": ("n", 5, [("goose", 0)], [], "a water bird"),
    "tilt": ("v", 38, [("bank", 0)], [], 'tip to a side; "the plane banked"'),
    "happen": ("v", 30, [("happen", 0), ("take_place", 0)], [], "come to pass"),
    "run": ("v", 38, [("run", 0)], [], "move fast"),
    "fast": ("a", 0, [("fast", 1)], [], "quick in motion"),
    "rapid": ("s", 0, [("rapid", 0), ("speedy(p)", 0)], [("&", "fast")], "done quickly"),
    "steady": ("a", 0, [("steady", 0)], [], "not subject to change"),
    "even": ("s", 0, [("steady", 1)], [("&", "fast")], "of a motion that does not vary"),
    "still": ("a", 0, [("quiet", 0)], [], "without sound"),
    "hushed": ("s", 0, [("quiet", 1)], [("&", "fast")], "in a low voice"),
    "firmly": ("r", 2, [("fast", 0)], [], 'fixed; "hold fast"'),
}
FILES = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
COUNTS = {"bank%1:17:01::": 2, "bank%1:14:00::": 5, "quiet%5:00:01:fast:01": 3}
SENSE_ORDER = {
    ("bank", "noun"): ["shore", "money"],
    ("quiet", "adj"): ["hushed", "still"],
}  # other lemmas: in the order above
EXCEPTIONS = {"noun": "geese goose\n", "verb": "ran run\ntook take\n", "adj": "", "adv": ""}
HEADER = "  1 WordNet 3.0 Copyright nobody: written for tests  \n"


def _line(name, offsets):
    pos, lexicographer, lemmas, pointers, gloss = SYNSETS[name]
    words = " ".join(f"{lemma} {number:x}" for lemma, number in lemmas)
    links = "".join(f" {symbol} {offsets[to]:08d} {SYNSETS[to][0]} 0000" for symbol, to in pointers)
    frames = " 00" if pos == "v" else ""
    return (
        f"{offsets[name]:08d} {lexicographer:02d} {pos} {len(lemmas):02x} {words} {len(pointers):03d}{links}{frames} "
        f"| {gloss}  \n"
    )


def write_wordnet(folder, counts=True):
    """The files of a `dict/` folder."""
    folder.mkdir(parents=True, exist_ok=True)
    offsets = dict.fromkeys(SYNSETS, 0)
    for _ in range(2):  # offsets have a fixed width, so the second time all lengths are known
        texts = dict.fromkeys(FILES.values(), HEADER)
        for name, (pos, *_) in SYNSETS.items():
            offsets[name] = len(texts[FILES[pos]].encode())
            texts[FILES[pos]] += _line(name, offsets)
    for file, text in texts.items():
        (folder / f"data.{file}").write_text(text)
        index = {}
        for name, (pos, _, lemmas, *_) in SYNSETS.items():
            if FILES[pos] == file:
                for lemma, _ in lemmas:
                    index.setdefault(lemma.partition("(")[0].lower(), []).append(name)
        lines = []
        for lemma, names in sorted(index.items()):
            names = SENSE_ORDER.get((lemma, file), names)
            places = " ".join(f"{offsets[name]:08d}" for name in names)
            lines.append(f"{lemma} {'r' if file == 'adv' else file[0]} {len(names)} 0 {len(names)} 0 {places}  \n")
        (folder / f"index.{file}").write_text(HEADER + "".join(lines))
        (folder / f"{file}.exc").write_text(EXCEPTIONS[file])
    if counts:
        others = {f"{letter}{n:02d}%1:00:00::": 1 for letter in "az" for n in range(50)}  # NLTK halves the file
        lines = sorted({**COUNTS, **others}.items())
        (folder / "cntlist.rev").write_text("".join(f"{key} 1 {count}\n" for key, count in lines))
    return folder


def semcor_file(*sentences, name="br-a01"):
    """A SemCor file; a word is a str, or (text, lemma, lexsn)."""
    lines = [f"<contextfile concordance=brown>\n<context filename={name} paras=yes>\n<p pnum=1>"]
    for number, words in enumerate(sentences, 1):
        lines.append(f"<s snum={number}>")
        for word in words:
            if isinstance(word, str):
                lines.append(f"<punc>{word}</punc>" if not word.isalpha() else f"<wf cmd=ignore pos=DT>{word}</wf>")
            else:
                text, lemma, senses = word
                lines.append(f"<wf cmd=done pos=NN lemma={lemma} wnsn=1 lexsn={senses}>{text}</wf>")
        lines.append("</s>")
    return "\n".join([*lines, "</p>\n</context>\n</contextfile>\n"])
