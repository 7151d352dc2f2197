"""Text to token ids on one core: English from a file, and other scripts and normal forms; beside an older version.

    python benchmarks/encoder.py --vectors glove.6B.50d --text wiki.txt --text speeches.txt --against OTHER/src

`--against` is the `src` folder of another version, whose rounds alternate with this one's; the best round of each
counts. Text in other languages is made of the sentences below, with numbers and order varied; its words have no
vectors, so that a vocabulary of their own is made for them. The tokens that are wanted are those that the tokenizer
gives for the first lines of a text.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

SIZE = 1 << 18  # bytes in a block, as files are read
LANGUAGES = {
    "Russian": [
        "Сегодня утром в городе прошёл сильный дождь, и многие улицы оказались под водой.",
        "Учёные из Новосибирска изучают озеро Байкал уже более тридцати лет.",
        "Новая библиотека открыта каждый день, кроме понедельника: вход свободный.",
    ],
    "Hindi": [
        "आज सुबह शहर में तेज़ बारिश हुई और कई सड़कें पानी से भर गईं।",
        "यह पुस्तक भारत के इतिहास और संस्कृति के बारे में है।",
        "नए पुस्तकालय में हर दिन बहुत से विद्यार्थी पढ़ने आते हैं।",
    ],
    "Arabic": [
        "هطل المطر بغزارة هذا الصباح في المدينة وامتلأت الشوارع بالماء.",
        "يتحدث هذا الكتاب عن تاريخ البلاد وثقافتها منذ القرن العاشر.",
        "المكتبة الجديدة مفتوحة كل يوم، والدخول إليها مجاني.",
    ],
    "Vietnamese": [
        "Sáng nay trời mưa rất to, nhiều đường phố trong thành phố bị ngập nước.",
        "Quyển sách này kể về lịch sử và văn hóa của người Việt từ thế kỷ thứ mười.",
        "Thư viện mới mở cửa hằng ngày, và mọi người đều được vào miễn phí.",
    ],
    "Korean": [
        "오늘 아침 도시에 비가 많이 내려서 여러 거리가 물에 잠겼다.",
        "이 책은 우리나라의 역사와 문화에 대하여 이야기한다.",
        "새 도서관은 매일 문을 열고 누구나 무료로 들어갈 수 있다.",
    ],
    "German": [
        "Die schöne Müllerin öffnete früh die Tür und grüßte höflich die Gäste aus Österreich.",
        "Über den Dächern von Köln läuten täglich die Glocken; viele Bürger hören sie schon längst nicht mehr.",
        "Das Gebäude wurde 1890 errichtet und gehört heute zur Universität Tübingen.",
    ],
    "Greek": [
        "Σήμερα το πρωί έβρεξε πολύ στην πόλη και οι δρόμοι γέμισαν νερά.",
        "Το βιβλίο αυτό μιλά για την ιστορία της Θεσσαλονίκης και των Σερρών.",
        "Η νέα βιβλιοθήκη στη Σύρο είναι ανοιχτή κάθε μέρα εκτός από τη Δευτέρα.",
    ],
    "Turkish": [
        "İstanbul'da bu sabah çok yağmur yağdı ve İstiklal Caddesi sular altında kaldı.",
        "İzmir ile İznik arasında İsmail Bey'in yeni kütüphanesi her gün açıktır.",
        "Bu kitap İç Anadolu'nun tarihini ve İslam öncesi kültürünü anlatıyor.",
    ],
}
TEXTS = {
    "German NFC": ("German", "NFC"),
    "German NFD": ("German", "NFD"),
    "Cyrillic (Russian)": ("Russian", "NFC"),
    "Hindi": ("Hindi", "NFC"),
    "Arabic": ("Arabic", "NFC"),
    "Vietnamese NFC": ("Vietnamese", "NFC"),
    "Vietnamese NFD": ("Vietnamese", "NFD"),
    "Korean NFC": ("Korean", "NFC"),
    "Korean NFD": ("Korean", "NFD"),
    "Greek": ("Greek", "NFC"),
    "Turkish with İ": ("Turkish", "NFC"),
}


def made_text(language: str, form: str, size: int = 2_000_000) -> bytes:
    """Sentences in another order each time, now and then with a number between, in lines."""
    draw = random.Random(0)
    lines: list[str] = []
    written = 0
    while written < size:
        sentences = draw.sample(LANGUAGES[language], k=3)
        line = f"{sentences[0]} {sentences[1]} {draw.randrange(3000)} {sentences[2]}"
        lines.append(unicodedata.normalize(form, line))
        written += len(lines[-1].encode()) + 1
    return ("\n".join(lines) + "\n").encode()


class Side:
    """One version of the encoder in a process of its own, which times a round when asked to."""

    def __init__(self, source: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **question: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


def serve() -> None:
    """Answer questions from standard input: prepare a text, or time one round of it."""
    from alacarte import WordVectors
    from alacarte.text.encoding import Encoder, Lexicon
    from alacarte.text.segments import Block
    from alacarte.text.tokenizers import get_tokenizer

    encoder: Any = None
    blocks: list[Any] = []
    for line in sys.stdin:
        question = json.loads(line)
        if "round" in question:
            begun = time.process_time()
            tokens = sum(encoder.encode(block).ids.size for block in blocks)
            print(json.dumps({"tokens": tokens, "seconds": time.process_time() - begun}), flush=True)
            continue
        text = Path(question["file"]).read_bytes()[: question["size"]]
        tokenizer = get_tokenizer(question["tokenizer"])
        if question["vectors"]:
            index: Any = WordVectors.load(question["vectors"]).key_to_index
        else:
            words = dict.fromkeys(tokenizer(text[:200_000].decode(errors="ignore"), set()))
            index = {word: row for row, word in enumerate(words)}
        encoder = Encoder(tokenizer, Lexicon(index))
        encoder.SMALL = 0
        blocks = []
        low = 0
        while low < len(text):
            high = text.rfind(b"\n", low, low + SIZE) + 1 or len(text)
            blocks.append(Block(text[low:high], [], 0))
            low = high
        ids = [encoder.encode(block).ids.tolist() for block in blocks]
        first = tokenizer(blocks[0].text.decode(), index)
        check = hash(tuple(map(tuple, ids))) if ids[0] == [index.get(token, -1) for token in first] else 0
        print(json.dumps({"check": check}), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--against", type=Path, help="the src folder of another version")
    options.add_argument("--vectors", default="glove.6B.50d")
    options.add_argument("--text", type=Path, action="append", default=[], help="a file with English text")
    options.add_argument("--bytes", type=int, default=20_000_000, help="how much of it")
    options.add_argument("--tokenizer", default="words")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--folder", type=Path, default=Path("/tmp"), help="for the texts that are made")
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve:
        serve()
        return
    sides = {"new": Side(Path(__file__).parents[1] / "src")}
    if given.against:
        sides["old"] = Side(given.against)
    print("million tokens a second of processor time on one core; the best of", given.rounds, "rounds that alternate")
    questions = {file.stem: (file, given.vectors) for file in given.text}
    for title, (language, form) in TEXTS.items():
        file = given.folder / f"encoder-{language}-{form}.txt"
        file.write_bytes(made_text(language, form))
        questions[title] = (file, "")
    for title, (file, vectors) in questions.items():
        question = {"file": str(file), "size": given.bytes, "tokenizer": given.tokenizer, "vectors": vectors}
        checks = {side: process.ask(**question)["check"] for side, process in sides.items()}
        rounds = [{side: process.ask(round=True) for side, process in sides.items()} for _ in range(given.rounds)]
        best = {side: min(answers[side]["seconds"] for answers in rounds) for side in sides}
        tokens = rounds[0]["new"]["tokens"]
        row = "  ".join(f"{side} {tokens / seconds / 1e6:6.1f}" for side, seconds in best.items())
        ratio = f"  x {best['old'] / best['new']:.1f}" if "old" in best else ""
        same = "" if len(set(checks.values())) == 1 and checks["new"] else "  OTHER IDS"
        print(f"{title:20s} {row}{ratio}{same}", flush=True)


if __name__ == "__main__":
    main()
