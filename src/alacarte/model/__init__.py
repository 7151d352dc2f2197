"""`ALaCarte`, the face of the library; what induction gives; single contexts; a model as a folder; what made a vector.

The public names are imported when first used.
"""

from typing import TYPE_CHECKING

from alacarte._io.lazy import exports

if TYPE_CHECKING:
    from alacarte.model.embedding import Contexts
    from alacarte.model.explaining import Explanation, explain
    from alacarte.model.few_shot import SLOT
    from alacarte.model.induced import InducedVectors
    from alacarte.model.model import ALaCarte
    from alacarte.model.saving import pretrained_names

__all__ = [
    "SLOT",
    "ALaCarte",
    "Contexts",
    "Explanation",
    "InducedVectors",
    "explain",
    "pretrained_names",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "embedding": ["Contexts"],
        "explaining": ["Explanation", "explain"],
        "induced": ["InducedVectors"],
        "few_shot": ["SLOT"],
        "model": ["ALaCarte"],
        "saving": ["pretrained_names"],
    },
)
