"""What the experiments on word senses read: SemCor, WordNet, Brown, and the test sets in two settings."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Literal

from alacarte.errors import BadData
from alacarte.model import ALaCarte
from alacarte.senses.annotated import Sentence
from alacarte.senses.brown import read_brown
from alacarte.senses.disambiguation import candidate_senses
from alacarte.senses.semcor import read_semcor, repaired
from alacarte.senses.semeval import read_semeval
from alacarte.senses.wordnet import WordNet, open_wordnet
from alacarte.vectors.word_vectors import WordVectors

TestSetting = Literal["authors", "standard"]
FILES = {
    "authors": {
        2013: ("semeval2013.task12.en.xml", "semeval2013.task12.en.key"),
        2015: ("semeval2015.task13.en.xml", "semeval2015.task13.en.key"),
    },
    "standard": {
        2013: ("unified/semeval2013.data.xml", "unified/semeval2013.gold.key.txt"),
        2015: ("unified/semeval2015.data.xml", "unified/semeval2015.gold.key.txt"),
    },
}


@dataclass(frozen=True)
class WsdData:
    """Everything that the experiment reads, from one folder."""

    folder: Path
    wordnet: WordNet
    semcor: list[Sentence]
    distributed: list[Sentence]  # the same with the sense keys of SemCor as they are distributed

    @classmethod
    def load(cls, folder: str | PathLike[str], wordnet: "str | PathLike[str] | None" = None) -> "WsdData":
        """`folder` holds SemCor, the SemEval files, Brown, and WordNet unless `wordnet` names another."""
        path = Path(folder)
        if not path.is_dir():
            raise BadData(f"{path}: no such folder; --data names the folder with SemCor, SemEval and WordNet")
        net = open_wordnet(wordnet or _one_of(path, "wordnet3.0*"))
        raw = list(read_semcor(_one_of(path, "semcor*"), repair=False))
        return cls(path, net, [repaired(sentence) for sentence in raw], raw)

    def framework_semcor(self) -> list[Sentence]:
        """SemCor as the unified evaluation framework took it over: keys as distributed, less those numbered 0."""
        return list(read_semcor(_one_of(self.folder, "semcor*"), repair=False, missing=False))

    def test(self, setting: TestSetting, year: int) -> list[Sentence]:
        """A test set: sentences with those of their instances that have an answer.

        The authors ask only for words that WordNet lists, and take the last word of a phrase for the whole.
        """
        xml, gold = (self.folder / name for name in FILES[setting][year])
        theirs = setting == "authors"
        sentences = []
        for sentence in read_semeval(xml, gold, last_word=theirs):
            asked = [instance for instance in sentence.instances if instance.keys]
            if theirs:
                asked = [one for one in asked if candidate_senses(self.wordnet, one.lemma, one.pos)]
            sentences.append(replace(sentence, instances=tuple(asked)))
        return sentences

    def brown_model(self, vectors: WordVectors) -> ALaCarte:
        """The paper's transform: learned on Brown, 5 words each side, α = log c."""
        return ALaCarte.fit(vectors, list(read_brown(_one_of(self.folder, "brown*"))), window=5, weighting="log")


def _one_of(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise BadData(f"{folder}: holds no {pattern}; put the corpus there, as it is distributed")
    return found[0]
