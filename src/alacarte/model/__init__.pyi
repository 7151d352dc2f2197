from alacarte.model.embedding import Contexts as Contexts
from alacarte.model.explaining import Explanation as Explanation
from alacarte.model.explaining import explain as explain
from alacarte.model.few_shot import SLOT as SLOT
from alacarte.model.induced import InducedVectors as InducedVectors
from alacarte.model.model import ALaCarte as ALaCarte
from alacarte.model.saving import pretrained_names as pretrained_names
