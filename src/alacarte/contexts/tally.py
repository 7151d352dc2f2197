"""What a pass over text makes, while it is made."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from alacarte.text.encoding import Encoded


class Tally(ABC):
    """It starts empty and takes encoded blocks, in any order and from any number of threads.

    A tally that a checkpoint can keep has `arrays` and `restore`, too.
    """

    @abstractmethod
    def adder(self) -> Callable[[Encoded], None]:
        """Return what one thread calls with each of its blocks; several adders work at the same time."""

    def settle(self) -> None:  # noqa: B027 (most tallies have nothing to do here)
        """Put together what the adders hold by themselves, if they do; called when none of them is at work."""

    def arrays(self) -> Mapping[str, Any]:
        """Return all that was added so far, for a checkpoint; called after `settle`."""
        raise TypeError(f"a checkpoint cannot keep {type(self).__name__}")

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Take up what `arrays` gave; called before anything is added."""
        raise TypeError(f"a checkpoint cannot keep {type(self).__name__}")

    def progress(self) -> dict[str, object]:
        """Return what to show beside the progress bar."""
        return {}
